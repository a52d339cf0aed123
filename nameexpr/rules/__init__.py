"""Name inference, the rule book: which names a result has, from the dims of the operands alone.

Every rule is a function of `Dims` (names and sizes) that returns names, dims or an order of dims, and raises
what is wrong in the words of the verb. No array is seen here and no NumPy is imported. The rules have two
clients: the methods of `NamedTensor` call them on real tensors, the compiler on the terms of a text. There is
one module per family:

=========== ========================================== ======================
module      rule                                       codes
=========== ========================================== ======================
lookup      which dim a name or number means           NE410, 416, 417, 651, 801
targets     ways to write a list of names              NE411 to 415, 650, 652
renaming    rename, refine_names                       NE420 to 431
alignment   align_to, align_as                         NE440 to 443, 750
merging     flatten                                    NE450 to 455
splitting   unflatten                                  NE460, 350 to 354, 657
removing    reductions, select, squeeze                as lookup
pairing     broadcasting of two tensors                NE370, 470, 471
contracting matrix products                            NE372, 373, 470 to 473
joining     cat, stack                                 NE385, 386, 470, 471
indexing    x[...]                                     NE370, 411, 470, 471
writing     in place, out=                             NE371, 472
=========== ========================================== ======================

>>> from nameexpr.dims import Dim
>>> renamed((Dim("N", 2), Dim("C", 3)), (), {"N": "batch"}, "rename")
('batch', 'C')
"""

from nameexpr.rules.alignment import Alignment, aligned_as, aligned_to
from nameexpr.rules.calls import Call, fault, shown
from nameexpr.rules.lookup import DimLike, position, positions
from nameexpr.rules.merging import flattened, flattened_range
from nameexpr.rules.renaming import refined, renamed
from nameexpr.rules.splitting import unflattened
from nameexpr.rules.targets import checked_names

__all__ = [
    "Alignment",
    "Call",
    "DimLike",
    "aligned_as",
    "aligned_to",
    "checked_names",
    "fault",
    "flattened",
    "flattened_range",
    "position",
    "positions",
    "refined",
    "renamed",
    "shown",
    "unflattened",
]
