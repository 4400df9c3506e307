"""Partial precomputation: some inputs of a node that pulls are pushed to a node of their own (EAGr, section 4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from graphtide.ego.costs import Costs
from graphtide.ego.decisions import Decisions, expenses, frequencies
from graphtide.ego.kernels.splitting import prefixes, with_prefixes
from graphtide.ego.overlay import Overlay

__all__ = ["split"]


def split(
    overlay: Overlay,
    decisions: Decisions,
    writes: ArrayLike,
    reads: ArrayLike,
    costs: Costs | None = None,
    *,
    writer_window: float = 1,
) -> tuple[Overlay, Decisions]:
    """The overlay and its decisions after every node is split for which that is expected to cost less.

    Of a node with k inputs the l that are pushed to least often, and that push, become inputs of a new node that
    pushes; the node itself pulls k - l + 1 inputs. The costs of other nodes stay the same.
    """
    costs = costs or Costs()
    often = frequencies(overlay, writes, reads)
    outputs = overlay.outputs()
    most = np.arange(int(np.diff(overlay.starts).max(initial=0)) + 2)
    push = decisions.push.copy()
    sizes, taken = prefixes(
        overlay.starts,
        overlay.inputs,
        outputs.starts,
        outputs.nodes,
        overlay.writers,
        np.argsort(overlay.levels(), kind="stable"),
        often.push,
        often.pull,
        push,
        overlay.writers + overlay.readers,
        costs.pushes(most),
        costs.pulls(most),
    )
    lists = with_prefixes(overlay.starts, overlay.inputs, overlay.signs, sizes, taken)
    after = Overlay(overlay.writers, overlay.readers, *lists, overlay.overlapping)
    push = np.concatenate((push, np.ones(after.nodes - overlay.nodes, np.bool_)))
    pushed, pulled = expenses(after, frequencies(after, writes, reads), costs, writer_window)
    return after, replace(decisions, push=push, cost=float(np.where(push, pushed, pulled).sum()))
