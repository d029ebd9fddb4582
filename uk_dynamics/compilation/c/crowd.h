/* Many motions at fixed steps, each under a servo law of its own, side by side in lanes; arrays are
 * the caller's. Gains, limits, references, starts and parameters may differ; instants are common. */
typedef struct {
  long long count, stops, samples;     /* motions; instants, the first the start; samples of each */
  long long euler, p_stride;           /* 0: Runge-Kutta; doubles from one motion's parameters on */
  double step;                         /* longest step in s */
  const double *when, *control, *sample; /* (stops): in s; 1 where laws act, where states are kept */
  const double *active;                /* (UK_M): 1 for rows that act */
  const double *tau;                   /* (count, UK_NV): forces besides those of motors */
  const double *p;                     /* (1 or count, UK_NP): parameters; null: there are none */
  void *const *controllers;            /* (count): uk_controller of each */
  int (*law)(const void *, double t, const double *q, const double *v, double *efforts,
             double *flags);           /* uk_control, for periods that lanes do not decide */
  int (*allocate)(uk_memory *);        /* uk_allocate, for efforts beyond limits */
  double *q, *v, *efforts;             /* (count, UK_NV), (count, UK_NU): at the start, then the end */
  double *q_out, *v_out, *efforts_out; /* (count, samples, UK_NV or UK_NU) */
  double *seen;                        /* (count, UK_NU + UK_FLAGS): when each was first up */
  double *stopped;                     /* (count): 1 for a motion that has to be done by itself */
  long long steps, alone;              /* counted up: steps; periods outside lanes */
} uk_crowd;
