"""The state database: what the site was, what it says, and everything derived from it. All SQL lives here.

`writing.State` is the one connection that a run writes through, `reads.Reads` answers questions beside it.
"""
