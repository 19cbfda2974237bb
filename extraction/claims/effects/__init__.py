"""Who gains and who pays, and what rises and falls, when a factor moves: as sentences and tables state it."""
