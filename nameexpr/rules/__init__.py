"""Name inference: the names of a result, from the dims of the operands alone.

Every rule is a function of `Dims` (names and sizes) that returns names, dims or an order of dims, and raises
errors that show the call. Rules do not see arrays and do not import NumPy. The methods of `NamedTensor` call
the rules on real tensors. There is one module per family:

=========== ========================================== ======================
module      rule                                       codes
=========== ========================================== ======================
calls       which dims a name or number means          NE410, 416, 417, 651, 801
targets     ways to write a list of names              NE411 to 415, 650, 652
names       rename, refine_names, align_to, align_as   NE420 to 443, 750
reshaping   flatten, unflatten                         NE450 to 460, 350 to 354, 657
pairing     broadcasting of two tensors                NE370, 470, 471
by_name     operators of `x.by_name`                   NE370, 373, 471
combining   matrix products, cat, stack                NE372, 373, 385, 386, 470 to 473
indexing    x[...]                                     NE370, 411, 470, 471
writing     in place, out=                             NE371, 472
=========== ========================================== ======================

>>> from nameexpr.dims import Dim
>>> from nameexpr.rules.names import renamed
>>> renamed((Dim("N", 2), Dim("C", 3)), (), {"N": "batch"}, "rename")
('batch', 'C')
"""
