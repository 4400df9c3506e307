"""The codes of floats at the edges of their range."""

from __future__ import annotations

import math

import numpy as np

from graphtide.rows import NULL, code_of_float, codes_of_floats, floats_of_codes

ORDERED = [-math.inf, -1.7e308, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.7e308, math.inf, math.nan]
# Negative, signalling, and with a payload.
NANS = np.array([0xFFF8 << 48, 0xFFF0 << 48 | 1, 2**63 - 1], np.uint64).view(np.float64)


def test_codes_of_floats_rise_with_them() -> None:
    codes = codes_of_floats(np.array(ORDERED)).tolist()
    assert codes == sorted(set(codes))
    assert codes[0] > NULL
    assert list(map(code_of_float, ORDERED)) == codes
    assert str(floats_of_codes(np.array(codes)).tolist()) == str(ORDERED)


def test_zeros_are_one_and_nans_are_one() -> None:
    assert codes_of_floats(np.array([-0.0, 0.0])).tolist() == [0, 0]
    assert code_of_float(-0.0) == 0
    assert set(codes_of_floats(NANS).tolist()) == {code_of_float(math.nan)}
    assert {code_of_float(nan) for nan in NANS.tolist()} == {code_of_float(math.nan)}


def test_narrow_floats_keep_their_values() -> None:
    signalling = np.array([0xFF800001, 0x80000000, 0x3F000000], np.uint32).view(np.float32)
    assert codes_of_floats(signalling).tolist() == [code_of_float(math.nan), 0, code_of_float(0.5)]
    assert codes_of_floats(np.array([0.5], np.float16)).tolist() == [code_of_float(0.5)]


def test_floats_are_not_changed_by_being_encoded() -> None:
    values = np.array([-1.0, -0.0, math.nan])
    codes_of_floats(values)
    assert str(values.tolist()) == "[-1.0, -0.0, nan]"
