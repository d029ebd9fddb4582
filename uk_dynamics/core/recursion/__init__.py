"""Constraints enforced level by level: Orsino's recursive modular methodology.

Paper: Orsino, Proc. R. Soc. A 473 (2017) 20160891.
"""
