"""The int64 that stands for a value: one code for None, and floats in the order of integers.

Invariant: a code is `NULL` if and only if the value is None. No other value of any type has that
code, and it comes before all of them.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["NULL", "Codes", "code_of_float", "codes_of_floats", "floats_of_codes"]

Codes: TypeAlias = NDArray[np.int64]

NULL: Final = -(2**63)

_ALL_BUT_SIGN: Final = 2**63 - 1
_FLOAT: Final = Struct("=d")
_BITS: Final = Struct("=q")
_NAN: Final = 0x7FF8 << 48
# What flipping makes of -0.0, and of nothing else.
_NEGATIVE_ZERO: Final = -1


def codes_of_floats(values: NDArray[np.floating]) -> Codes:
    """Integers that compare as the floats do, in which -0.0 is 0.0 and NaN is one value, the last.

    The bits of a float that is not negative already order as integers; those of a negative one
    order backwards, which flipping all but the sign undoes.

    >>> codes = codes_of_floats(np.array([-np.inf, -1.5, -0.0, 0.0, 1.5, np.inf, np.nan]))
    >>> bool((np.diff(codes) >= 0).all()), int(codes[2]), int(codes[3])
    (True, 0, 0)
    """
    if values.dtype != np.float64:
        # A signalling NaN of a narrower float would warn, and is a NaN like any other here.
        with np.errstate(invalid="ignore"):
            values = values.astype(np.float64)
    bits = np.ascontiguousarray(values).view(np.int64)
    codes = bits ^ ((bits >> 63) & _ALL_BUT_SIGN)
    codes += codes == _NEGATIVE_ZERO
    np.copyto(codes, _NAN, where=np.isnan(values))
    return codes


def code_of_float(value: float) -> int:
    """The code of one float: what `codes_of_floats` gives, at a tenth of its cost for a single one.

    >>> code_of_float(-0.0), code_of_float(float("-inf")) < code_of_float(-1e308)
    (0, True)
    """
    (bits,) = _BITS.unpack(_FLOAT.pack(value + 0.0))
    if value != value:  # noqa: PLR0124 - NaN
        return _NAN
    return bits if bits >= 0 else bits ^ _ALL_BUT_SIGN


def floats_of_codes(codes: Codes) -> NDArray[np.float64]:
    """The floats behind their codes; what stands at `NULL` is a NaN, for the caller to mask.

    >>> floats_of_codes(codes_of_floats(np.array([-1.5, 0.0, np.nan]))).tolist()
    [-1.5, 0.0, nan]
    """
    return (codes ^ ((codes >> 63) & _ALL_BUT_SIGN)).view(np.float64)
