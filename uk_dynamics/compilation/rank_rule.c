/* Bounds of the rank rule and of what depends on it. */

#define UK_LEAST_PART 0.1           /* of its natural scale: a row is not measured against less */
#define UK_EXACTLY_DEPENDENT 1e-10  /* remainder that is rounding, not geometry */
#define UK_KERNEL_ROUNDING 1e-6
#define UK_LOST_PIVOTS 1e13
#define UK_NEGLIGIBLE_ACCELERATION 1e-3
#define UK_TINY 1e-150
#define UK_DOWNDATE 1e-8            /* part of a squared norm below which it is computed anew */
