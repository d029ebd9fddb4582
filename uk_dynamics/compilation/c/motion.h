/* A motion at fixed steps under a law of control; arrays are the caller's. */
typedef struct {
  long long stops, flags;    /* instants, the first of which is the start; flags of the law */
  long long euler, project;  /* 0: Runge-Kutta; 1: every step ends on the constraints */
  long long continuous;      /* 1: the law acts at every evaluation, 0: efforts are held */
  double step, stabilize;    /* longest step in s; as of single states, for project 0 */
  const double *when;        /* (stops): in s */
  const double *control;     /* (stops): 1 where the law acts; null: nowhere */
  const double *sample;      /* (stops): 1 where the state is kept */
  int (*law)(const void *, double t, const double *q, const double *v, double *efforts,
             double *flags);
  const void *controller;    /* its first argument; without a law both are null */
  double *followed;          /* table of what structural rows follow; null: zero */
  const double *active;      /* (UK_M): 1 for rows that act */
  const double *tau;         /* (UK_NV): forces besides those of motors */
  double *q, *v, *efforts;   /* (UK_NQ), (UK_NV), (UK_NU): at the start, then at the end */
  double *q_out, *v_out, *efforts_out; /* a row per sample */
  double *raised;            /* (UK_NU + flags): 1 for a motor at its effort limit, then the flags */
  double *seen;              /* (UK_NU + flags): when each was first up; infinite: never */
  long long at, sampled, steps, evaluations; /* counted up: instant reached, samples … */
} uk_motion;

#define UK_NO_EFFORTS 1 /* the law has none at the instant reached */
#define UK_NO_MOTION 2  /* the way to the next instant failed; the state is that of this one */
