"""Train the edge model: tokenized examples, losses and the training loop."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sentencepiece
import torch
import torch.nn.functional as F  # noqa: N812 -- its usual name
from torch import nn

from benchmarks.training.network import NEVER, POINTERS, EdgeNetwork, multilabel_loss
from extraction.models.edges import token_spans
from extraction.models.scheme import (
    ATTRIBUTES,
    DIRECTIONS,
    GROUP_NAMES,
    GROUP_OF,
    KINDS,
    LINKS,
    MODALITIES,
    RELATIONS,
    ROLES,
)
from kg.text.word_pieces import SPELLED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.training.gold import Example

LONGEST_SPAN = 24  # tokens
_TOKEN_DROPOUT = 0.06  # share of tokens that training masks
_MIN_NEGATIVE = -8.0  # pairs with a lower score are not used as negatives
_SPANS, _NEGATIVES = 16, 24  # per text: best spans of a role, and hard negative pairs of them


class Item:
    """An example as tokens, with its targets as sparse positions."""

    def __init__(self, example: Example, tokenizer: sentencepiece.SentencePieceProcessor) -> None:
        text = example.unit.text.translate(SPELLED)
        pieces = tokenizer.encode(text, out_type=str)[:300]
        self.example = example
        self.starts, self.ends = token_spans(pieces)
        self.ids = [1, *tokenizer.encode(text, out_type=int)[:300], 2]
        self.own = [0, *(int(start >= example.unit.body) for start in self.starts), 0]
        self.states = torch.empty(0)  # output of the frozen layers, set by `cache_lower`
        self.wanted: set[tuple[int, int, int]] = set()
        self.ignored: set[tuple[int, int, int]] = set()
        self.doubtful: set[tuple[int, int, int, int]] = set()  # pairs that are neither positives nor negatives
        self.pairs: list[tuple[tuple[int, int, int, int], dict[str, int]]] = []
        self._label()

    def tokens(self, span: tuple[int, int]) -> tuple[int, int] | None:
        """Return the first and the last token of a span of characters; token 0 is the begin marker."""
        first = next((k for k, end in enumerate(self.ends) if end > span[0]), None)
        last = next((k for k in reversed(range(len(self.starts))) if self.starts[k] < span[1]), None)
        if first is None or last is None or not 0 <= last - first < LONGEST_SPAN:
            return None
        return first + 1, last + 1

    def _label(self) -> None:
        for edge in self.example.edges:
            self._mark(edge, self.wanted)
        for edge in [*self.example.edges, *self.example.repeated]:
            self._mark_everywhere(edge)
        self.ignored -= self.wanted

    def _mark(self, edge: Any, into: set[tuple[int, int, int]]) -> None:
        subject, object_ = self.tokens(edge.subject), self.tokens(edge.object)
        if subject is None or object_ is None or subject == object_:
            return
        self._link(subject, object_, 0, into)
        into.update({(0, *subject), (1, *object_)})
        for core, scope in ((subject, edge.subject_scope), (object_, edge.object_scope)):
            place = self.tokens(scope) if scope else None
            if place and place != core:
                into.add((2, *place))
                self._link(place, core, len(LINKS) - 1, into)
        cause, _, effect = edge.directions.partition("-")
        goals = {
            "group": GROUP_NAMES.index(GROUP_OF[edge.relation]),
            "relation": RELATIONS.index(edge.relation),
            "modality": MODALITIES.index(edge.modality) if edge.modality in MODALITIES else 0,
            "negative": int(edge.negative),
        }
        if edge.relation == "affects" and effect:
            goals |= {"cause": DIRECTIONS.index(cause), "effect": DIRECTIONS.index(effect)}
        goals |= {
            name: KINDS.index(kind)
            for name, kind in (("subject_kind", edge.subject_kind), ("object_kind", edge.object_kind))
            if kind in KINDS
        }
        if into is self.wanted:
            self.pairs.append(((*subject, *object_), goals))

    def _mark_everywhere(self, edge: Any) -> None:
        """Ignore other occurrences of the same names in the unit, since only one of each is annotated."""
        text = self.example.unit.text
        ends = []
        for span in (edge.subject, edge.object):
            name, places, at = text[slice(*span)], [], -1
            while name and (at := text.find(name, at + 1)) >= 0:
                if place := self.tokens((at, at + len(name))):
                    places.append(place)
            ends.append(places)
        for subject in ends[0]:
            self.ignored.add((0, *subject))
            for object_ in ends[1]:
                self.ignored.add((1, *object_))
                self._link(subject, object_, 0, self.ignored)
                self.doubtful.add((*subject, *object_))

    @staticmethod
    def _link(subject: tuple[int, int], object_: tuple[int, int], link: int, into: set[tuple[int, int, int]]) -> None:
        into.add((len(ROLES) + link, subject[0], object_[0]))
        into.add((len(ROLES) + len(LINKS) + link, subject[1], object_[1]))


def make_items(examples: Sequence[Example], tokenizer: bytes) -> list[Item]:
    """Tokenize and label examples."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=tokenizer)
    return [Item(example, processor) for example in examples]


def mixed_precision(device: str) -> torch.autocast:
    """Return a context that multiplies matrices in bfloat16 where the processor has it; elsewhere that is slower."""
    native = device != "cpu" or bool(torch.cpu.get_capabilities().get("avx512_bf16"))
    return torch.autocast(device, dtype=torch.bfloat16, enabled=native)


def cache_lower(net: EdgeNetwork, items: Sequence[Item], device: str = "cpu") -> None:
    """Compute and store the output of the frozen layers."""
    order = sorted(items, key=lambda item: len(item.ids))
    net.eval()
    with torch.no_grad():
        for at in range(0, len(order), 48):
            batch = order[at : at + 48]
            ids, _, padding = _padded(batch)
            with mixed_precision(device):
                states = net.lower_states(ids.to(device), padding.to(device))
            for row, item in zip(states, batch, strict=True):
                item.states = row[: len(item.ids)].to(torch.bfloat16).cpu().clone()


def _padded(batch: Sequence[Item]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    longest = max(len(item.ids) for item in batch)
    ids = torch.full((len(batch), longest), 2)
    own = torch.zeros((len(batch), longest), dtype=torch.long)
    padding = torch.full((len(batch), 1, 1, longest), NEVER)
    for row, item in enumerate(batch):
        ids[row, : len(item.ids)] = torch.tensor(item.ids)
        own[row, : len(item.own)] = torch.tensor(item.own)
        padding[row, 0, 0, : len(item.ids)] = 0.0
    return ids, own, padding


def _states(net: EdgeNetwork, batch: Sequence[Item], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the last states of a batch, and a mask of the tokens that are not padding."""
    _, own, padding = _padded(batch)
    states = torch.zeros((*own.shape, batch[0].states.shape[-1]), dtype=torch.bfloat16)
    for row, item in enumerate(batch):
        states[row, : len(item.ids)] = item.states
    if net.training:
        states *= torch.rand(own.shape)[..., None] > _TOKEN_DROPOUT
    padding = padding.to(device)
    with mixed_precision(device):
        last = net.upper_states(states.to(device).float(), own.to(device), padding)
    return last, padding[:, 0, 0] == 0


def allowed(real: torch.Tensor) -> torch.Tensor:
    """Return a (texts, POINTERS, tokens, tokens) mask: spans run forward and are short, links join any real tokens."""
    texts, tokens = real.shape
    place = torch.arange(tokens, device=real.device)
    distance = place[None] - place[:, None]
    span = (distance >= 0) & (distance < LONGEST_SPAN)
    both = real[:, :, None] & real[:, None, :] & (place > 0)[None, :, None] & (place > 0)[None, None, :]
    out = both[:, None].expand(texts, POINTERS, tokens, tokens).clone()
    out[:, : len(ROLES)] &= span
    return out


def loss_of(net: EdgeNetwork, batch: Sequence[Item], device: str) -> torch.Tensor:
    """Return the loss of a batch: spans and links, then attributes of gold pairs and hard negatives."""
    last, real = _states(net, batch, device)
    with mixed_precision(device):
        scores = net.scores(last)
    scores = scores.float()
    wanted = torch.zeros(scores.shape, dtype=torch.bool)
    ignored = torch.zeros(scores.shape, dtype=torch.bool)
    for row, item in enumerate(batch):
        for places, target in ((item.wanted, wanted), (item.ignored, ignored)):
            if places:
                target[row].view(-1)[_flat(places, scores.shape[-1])] = True
    loss = multilabel_loss(scores, wanted.to(device), (ignored.to(device) | ~allowed(real))).sum(-1).mean()
    pairs = [(row, *ends) for row, item in enumerate(batch) for ends, _ in item.pairs]
    goals = [goal for item in batch for _, goal in item.pairs]
    negatives = hard_negatives(scores.detach(), real, batch)
    goals += [{"group": len(GROUP_NAMES)}] * len(negatives)
    if goals:
        attributes = net.pair_attributes(last.float(), torch.tensor([*pairs, *negatives], device=device))
        for name, (low, high) in ATTRIBUTES.items():
            goal = torch.tensor([each.get(name, -100) for each in goals], device=device)
            if (goal >= 0).any():
                weight = 1.0 if name == "group" else 0.5
                loss = loss + weight * F.cross_entropy(
                    attributes[:, low:high], goal, ignore_index=-100, reduction="sum"
                ) / len(batch)
    return loss


def hard_negatives(
    scores: torch.Tensor, real: torch.Tensor, batch: Sequence[Item]
) -> list[tuple[int, int, int, int, int]]:
    """Return the best-scored pairs of a batch that are not edges, as (text, first and last token of either span)."""
    texts, _, tokens, _ = scores.shape
    spans = scores[:, :2].masked_fill(~allowed(real)[:, :2], NEVER).flatten(2)
    best = spans.topk(min(_SPANS, spans.shape[-1]), -1)
    first, last = best.indices // tokens, best.indices % tokens
    rows = torch.arange(texts, device=scores.device)[:, None, None]
    link = scores[rows, len(ROLES), first[:, 0, :, None], first[:, 1, None, :]]
    link = link + scores[rows, len(ROLES) + len(LINKS), last[:, 0, :, None], last[:, 1, None, :]]
    link = link + best.values[:, 0, :, None].clamp(max=0) + best.values[:, 1, None, :].clamp(max=0)
    top = link.flatten(1).topk(min(2 * _NEGATIVES, link[0].numel()), -1)
    out = []
    wide = best.indices.shape[-1]
    for row, item in enumerate(batch):
        known = {ends for ends, _ in item.pairs} | item.doubtful
        kept = 0
        for value, at in zip(top.values[row].tolist(), top.indices[row].tolist(), strict=True):
            left, right = divmod(at, wide)
            ends = (
                int(first[row, 0, left]),
                int(last[row, 0, left]),
                int(first[row, 1, right]),
                int(last[row, 1, right]),
            )
            if value < _MIN_NEGATIVE or kept == _NEGATIVES:
                break
            if ends not in known and (ends[1] < ends[2] or ends[3] < ends[0]):
                out.append((row, *ends))
                kept += 1
    return out


def _flat(places: set[tuple[int, int, int]], tokens: int) -> torch.Tensor:
    rows = np.array(sorted(places), dtype=np.int64)
    return torch.from_numpy((rows[:, 0] * tokens + rows[:, 1]) * tokens + rows[:, 2])


@dataclass(frozen=True, slots=True)
class Schedule:
    """Hyperparameters: `tokens` per batch, learning rates, and the share of units without edges used per epoch."""

    epochs: int
    tokens: int = 1600
    rate: float = 1.5e-4
    head_rate: float = 1e-3
    empty: float = 0.3
    seed: int = 1


def fit(
    net: Any,
    items: Sequence[Item],
    schedule: Schedule,
    *,
    device: str,
    log: Callable[[str], None],
    loss_of: Callable[[Any, Sequence[Item], str], torch.Tensor],
) -> dict[str, torch.Tensor]:
    """Train; return the mean of the weights over the last part of the run (Izmailov et al. 2018), by name.

    Args:
        net: an `EdgeNetwork` or a `PairNetwork`, whose layers of the encoder are in `upper`.
        items: the units.
        schedule: hyperparameters.
        device: a PyTorch device.
        log: called with a line for each epoch.
        loss_of: the loss of a batch of items.
    """
    rng = random.Random(schedule.seed)  # noqa: S311 -- for shuffling, not for security
    torch.manual_seed(schedule.seed)
    encoder = [*net.upper.parameters()]
    encoder_ids = {id(part) for part in encoder}
    heads = [part for part in net.parameters() if part.requires_grad and id(part) not in encoder_ids]
    optimizer = torch.optim.AdamW(
        [{"params": encoder, "lr": schedule.rate}, {"params": heads, "lr": schedule.head_rate}], weight_decay=0.01
    )
    rates = [group["lr"] for group in optimizer.param_groups]
    total, done, started = 0, 0, time.monotonic()
    mean: dict[str, torch.Tensor] = {}
    for epoch in range(schedule.epochs):
        net.train()
        chosen = [item for item in items if item.wanted or rng.random() < schedule.empty]
        batches = list(_batches(chosen, schedule.tokens, rng))
        total = total or len(batches) * schedule.epochs
        losses = 0.0
        for batch in batches:
            part = min(1.0, (done + 1) / (0.06 * total), max(0.02, (total - done) / (0.94 * total)))
            for group, full in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = full * part
            loss = loss_of(net, batch, device)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            optimizer.step()
            done += 1
            losses += loss.item()
            if done > 0.6 * total:
                _average(mean, net, 0.995)
        spent = time.monotonic() - started
        log(f"epoch {epoch + 1}: {len(batches)} batches, loss {losses / len(batches):.3f}, {spent:.0f} s")
    return mean


def _average(mean: dict[str, torch.Tensor], net: nn.Module, keep: float) -> None:
    for name, part in net.named_parameters():
        if part.requires_grad:
            value = part.detach()
            mean[name] = value.clone() if name not in mean else mean[name].mul_(keep).add_(value, alpha=1 - keep)


def _batches(items: list[Item], tokens: int, rng: random.Random) -> Iterator[list[Item]]:
    """Yield batches of similar numbers of tokens, each of texts of similar length, in random order."""
    order = sorted(items, key=lambda item: len(item.ids) + rng.random() * 20)
    out: list[list[Item]] = [[]]
    for item in order:
        if out[-1] and (len(out[-1]) + 1) * max(len(item.ids), *(len(each.ids) for each in out[-1])) > tokens:
            out.append([])
        out[-1].append(item)
    rng.shuffle(out)
    yield from out
