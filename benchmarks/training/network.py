"""The edge model as a PyTorch module: an encoder, pointers for spans and links, attributes of pairs.

Spans and links are scored for all pairs of tokens at once: a span by its first and last token, a link of two spans by
their first tokens and by their last tokens (GlobalPointer, Su et al. 2022; GPLinker, Su 2022; rotary position
embeddings, Su et al. 2021). The loss is multi-label cross-entropy with threshold 0 (Su et al. 2022).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 -- its usual name
from torch import nn

from benchmarks.training.pretrained import HEADS
from benchmarks.training.pretrained import WIDTH as STATE
from extraction.models.scheme import LINKS, ROLES
from extraction.models.scheme import WIDTH as ATTRIBUTES

if TYPE_CHECKING:
    from benchmarks.training.pretrained import Base

POINTERS = len(ROLES) + 2 * len(LINKS)  # spans by role, then links by first tokens, then links by last tokens
POINTER = 64
HIDDEN, FARTHEST = 384, 14
NEVER = -1e4


class TransformerLayer(nn.Module):
    """A post-norm transformer layer."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.mix, self.join = nn.Linear(STATE, 3 * STATE), nn.Linear(STATE, STATE)
        self.widen, self.narrow = nn.Linear(STATE, 4 * STATE), nn.Linear(4 * STATE, STATE)
        self.middle_norm, self.norm = nn.LayerNorm(STATE, eps=1e-12), nn.LayerNorm(STATE, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: torch.Tensor, padding: torch.Tensor | None) -> torch.Tensor:
        """Transform (texts, tokens, STATE); `padding` is added to the attention scores."""
        texts, tokens, _ = states.shape
        query, key, value = self.mix(states).view(texts, tokens, 3, HEADS, STATE // HEADS).permute(2, 0, 3, 1, 4)
        weights = query @ key.transpose(-1, -2) * (STATE // HEADS) ** -0.5
        taken = (weights if padding is None else weights + padding).softmax(-1) @ value
        taken = self.join(taken.transpose(1, 2).reshape(texts, tokens, STATE))
        states = self.middle_norm(states + self.dropout(taken))
        fed = self.narrow(F.gelu(self.widen(states), approximate="tanh"))
        return self.norm(states + self.dropout(fed))


class EdgeNetwork(nn.Module):
    """Scores spans, links and attributes; the output of the frozen `lower` layers can be cached."""

    def __init__(self, base: Base, *, frozen: int, dropout: float = 0.1, head_dropout: float = 0.2) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(torch.from_numpy(base.words.copy()))
        self.places = nn.Parameter(torch.from_numpy(base.places.copy()), requires_grad=False)
        self.embed_norm = nn.LayerNorm(STATE, eps=1e-12)
        self.embed_norm.load_state_dict(
            {"weight": torch.from_numpy(base.norm[0]), "bias": torch.from_numpy(base.norm[1])}
        )
        self.lower = nn.ModuleList(TransformerLayer(0.0) for _ in range(frozen))
        self.upper = nn.ModuleList(TransformerLayer(dropout) for _ in range(len(base.layers) - frozen))
        for layer, weights in zip([*self.lower, *self.upper], base.layers, strict=True):
            layer.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})
        for part in (self.words, self.embed_norm, self.lower):
            part.requires_grad_(requires_grad=False)
        self.own = nn.Embedding(2, STATE)
        nn.init.normal_(self.own.weight, std=0.02)
        self.head_dropout = nn.Dropout(head_dropout)
        self.pointers = nn.Linear(STATE, 2 * POINTER * POINTERS)
        self.edges = nn.Linear(STATE, 2 * POINTERS)
        nn.init.constant_(self.edges.bias, -1.0)
        self.pair = nn.Linear(5 * STATE, HIDDEN)
        self.distance = nn.Embedding(2 * FARTHEST + 1, HIDDEN)
        self.attributes = nn.Linear(HIDDEN, ATTRIBUTES)

    def lower_states(self, ids: torch.Tensor, padding: torch.Tensor | None) -> torch.Tensor:
        """Return the output of the frozen layers."""
        states = self.embed_norm(self.words(ids) + self.places[: ids.shape[1]])
        for layer in self.lower:
            states = layer(states, padding)
        return states

    def upper_states(self, states: torch.Tensor, own: torch.Tensor, padding: torch.Tensor | None) -> torch.Tensor:
        """Return the last states; `own` marks the tokens of the unit's own text, as opposed to its context."""
        states = states + self.own(own)
        for layer in self.upper:
            states = layer(states, padding)
        return states

    def scores(self, states: torch.Tensor) -> torch.Tensor:
        """Return (texts, POINTERS, tokens, tokens) scores, indexed by [from, to] for each pointer."""
        texts, tokens, _ = states.shape
        states = self.head_dropout(states)
        both = self.pointers(states).view(texts, tokens, POINTERS, 2, POINTER).permute(3, 0, 2, 1, 4)
        query, key = _rotated(both[0]), _rotated(both[1])
        edge = self.edges(states).view(texts, tokens, POINTERS, 2).permute(3, 0, 2, 1)
        return query @ key.transpose(-1, -2) / POINTER**0.5 + edge[0][..., :, None] + edge[1][..., None, :]

    def pair_attributes(self, states: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """Return (pairs, ATTRIBUTES) of pairs given as (pairs, 5): text, first and last token of either span.

        A pair is represented by its four end tokens, the mean of the states between its spans, and their distance.
        """
        row, parts = ends[:, 0], [ends[:, column] for column in (1, 2, 3, 4)]
        sums = F.pad(states.cumsum(1), (0, 0, 1, 0))
        low = torch.minimum(ends[:, 2], ends[:, 4]) + 1
        high = torch.maximum(torch.maximum(ends[:, 1], ends[:, 3]), low)
        between = (sums[row, high] - sums[row, low]) / (high - low).clamp(min=1)[:, None]
        seen = torch.cat([*(states[row, part] for part in parts), between], -1)
        hidden = self.pair(self.head_dropout(seen)) + self.distance(distance_slot(ends[:, 3] - ends[:, 1]))
        return self.attributes(self.head_dropout(F.relu(hidden)))


class PairNetwork(nn.Module):
    """Classifies the candidate pairs of a text: two tokens for each pair run through the upper layers beside the text.

    A pair's tokens start from the lower states of its spans and see the text and all pairs, so that the members of a
    list are judged together; the text does not see them (levitated markers, Ye et al. 2022, PL-Marker).
    """

    def __init__(self, layers: int, *, dropout: float = 0.1, head_dropout: float = 0.2) -> None:
        super().__init__()
        self.upper = nn.ModuleList(TransformerLayer(dropout) for _ in range(layers))
        self.own, self.role = nn.Embedding(2, STATE), nn.Embedding(2, STATE)
        nn.init.normal_(self.role.weight, std=0.02)
        self.bias = nn.Parameter(torch.tensor([[2.0, 0.0]] * layers))  # attention to the pair's other token, to others
        self.pair = nn.Linear(3 * STATE, HIDDEN)
        self.distance = nn.Embedding(2 * FARTHEST + 1, HIDDEN)
        self.attributes = nn.Linear(HIDDEN, ATTRIBUTES)
        self.dropout = nn.Dropout(head_dropout)

    def forward(self, lower: torch.Tensor, own: torch.Tensor, ends: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Return (texts, pairs, ATTRIBUTES).

        Args:
            lower: (texts, tokens, STATE) output of the frozen layers.
            own: (texts, tokens) marks of the unit's own text.
            ends: (texts, pairs, 4) first and last token of subject and object.
            hidden: (texts, 1, 1, tokens + 2 * pairs), NEVER at padding.
        """
        tokens, pairs = lower.shape[1], ends.shape[1]
        row = torch.arange(lower.shape[0], device=lower.device)[:, None]
        spans = [(lower[row, ends[..., at]] + lower[row, ends[..., at + 1]]) / 2 for at in (0, 2)]
        roles = self.role.weight
        states = torch.cat([lower + self.own(own), spans[0] + roles[0], spans[1] + roles[1]], 1)
        place = torch.arange(states.shape[1], device=lower.device)
        marks = place >= tokens
        apart = (place[:, None] - place[None]).abs()
        partner = (marks[:, None] & marks[None] & (apart == pairs)).float()
        others = (marks[:, None] & marks[None] & (apart != pairs) & (apart != 0)).float()
        unseen = NEVER * (~marks[:, None] & marks[None]).float()
        for layer, (to_partner, to_others) in zip(self.upper, self.bias, strict=True):
            bias = unseen + to_partner * partner + to_others * others
            states = layer(states, bias + hidden)
        text, subjects, objects = states[:, :tokens], states[:, tokens : tokens + pairs], states[:, tokens + pairs :]
        sums = F.pad(text.cumsum(1), (0, 0, 1, 0))
        low = torch.minimum(ends[..., 1], ends[..., 3]) + 1
        high = torch.maximum(torch.maximum(ends[..., 0], ends[..., 2]), low)
        between = (sums[row, high] - sums[row, low]) / (high - low).clamp(min=1)[..., None]
        seen = self.pair(self.dropout(torch.cat([subjects, objects, between], -1)))
        seen = seen + self.distance(distance_slot(ends[..., 2] - ends[..., 0]))
        return self.attributes(self.dropout(F.relu(seen)))


def distance_slot(distance: torch.Tensor) -> torch.Tensor:
    """Return the signed, logarithmic slot of a distance in tokens."""
    steps = (distance.abs().float() + 1).log2().mul(2).long().clamp(max=FARTHEST)
    return steps * distance.sign() + FARTHEST


def _rotated(rows: torch.Tensor) -> torch.Tensor:
    """Rotate (…, tokens, POINTER) by position (Su et al. 2021)."""
    tokens, width = rows.shape[-2], rows.shape[-1]
    rates = 10000.0 ** (-torch.arange(0, width, 2, device=rows.device, dtype=torch.float32) / width)
    turns = torch.arange(tokens, device=rows.device, dtype=torch.float32)[:, None] * rates
    sine, cosine = turns.sin().to(rows.dtype), turns.cos().to(rows.dtype)
    left, right = rows[..., : width // 2], rows[..., width // 2 :]
    return torch.cat([left * cosine - right * sine, left * sine + right * cosine], -1)


def multilabel_loss(scores: torch.Tensor, wanted: torch.Tensor, ignored: torch.Tensor) -> torch.Tensor:
    """Return (texts, POINTERS) losses that push wanted scores above 0 and the others below (Su et al. 2022, eq. 9)."""
    zero = scores.new_zeros((*scores.shape[:2], 1))
    negative = scores.masked_fill(ignored | wanted, NEVER).flatten(2)
    positive = (-scores).masked_fill(~wanted, NEVER).flatten(2)
    return torch.cat([negative, zero], -1).logsumexp(-1) + torch.cat([positive, zero], -1).logsumexp(-1)
