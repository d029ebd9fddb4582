/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What Python calls of a servo law, as in python.c. */

#ifdef UK_PYTHON

#define UK_ERRORS (offsetof(uk_memory, efforts) - offsetof(uk_memory, tracking_error))
#define UK_DECISION (offsetof(uk_memory, limited) - offsetof(uk_memory, efforts))

/* t, q, v and value, rate, acceleration of the references. */
static int uk_servo_inputs(uk_memory *m, PyObject *const *args) {
  if (!uk_copy(args[1], m->q, UK_NQ) || !uk_copy(args[2], m->v, UK_NV)) return 0;
  for (int i = 0; i < 3; ++i)
    if (!uk_copy(args[3 + i], m->task_followed + i * UK_MT, UK_MT)) return 0;
  m->t = PyFloat_AsDouble(args[0]);
  return 1;
}

/* (t, q, v): the largest residual of the structure. */
static PyObject *uk_python_closure_error(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  uk_memory *m = uk_memory_of(self);
  if (count != 3 || !uk_copy(args[1], m->q, UK_NQ) || !uk_copy(args[2], m->v, UK_NV))
    Py_RETURN_NOTIMPLEMENTED;
  m->t = PyFloat_AsDouble(args[0]);
  if (PyErr_Occurred()) return NULL;
  return PyFloat_FromDouble(uk_closure_error(m));
}

/* (t, q, v, value, rate, acceleration): residuals and rates. */
static PyObject *uk_python_errors(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  uk_memory *m = uk_memory_of(self);
  if (count != 6 || !uk_servo_inputs(m, args)) Py_RETURN_NOTIMPLEMENTED;
  if (PyErr_Occurred()) return NULL;
  uk_errors(m);
  return uk_fresh(m->tracking_error, UK_ERRORS / sizeof(double));
}

/* (t, q, v, value, rate, acceleration, tau or None, desired, feedback, weights, preload or None): answers of
 * the mechanism, and of the law; None where there are none. */
static PyObject *uk_python_servo(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  uk_memory *m = uk_memory_of(self);
  if (count != 11) Py_RETURN_NOTIMPLEMENTED;
  if (args[6] == Py_None) memset(m->tau, 0, sizeof m->tau);
  else if (!uk_copy(args[6], m->tau, UK_NV)) Py_RETURN_NOTIMPLEMENTED;
  if (!uk_copy(args[7], m->desired, UK_MT)) Py_RETURN_NOTIMPLEMENTED;
  if (!uk_copy(args[8], m->feedback, UK_MT)) Py_RETURN_NOTIMPLEMENTED;
  if (!uk_copy(args[9], m->weights, UK_NU)) Py_RETURN_NOTIMPLEMENTED;
  if (args[10] == Py_None) memset(m->preload, 0, sizeof m->preload);
  else if (!uk_copy(args[10], m->preload, UK_NU)) Py_RETURN_NOTIMPLEMENTED;
  if (!uk_servo_inputs(m, args)) Py_RETURN_NOTIMPLEMENTED;
  if (PyErr_Occurred()) return NULL;
  m->stabilize = 1.0;
  if (uk_servo(m)) Py_RETURN_NONE;
  return Py_BuildValue("(NN)", uk_fresh((const double *)m, UK_ANSWERED / sizeof(double)),
                       uk_fresh(m->efforts, UK_DECISION / sizeof(double)));
}

/* (lower, upper): efforts within them, and 1 where there are no better ones; None: none. */
static PyObject *uk_python_allocate(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  uk_memory *m = uk_memory_of(self);
  if (count != 2 || !uk_copy(args[0], m->lower, UK_NU) || !uk_copy(args[1], m->upper, UK_NU))
    Py_RETURN_NOTIMPLEMENTED;
  if (uk_allocate(m)) Py_RETURN_NONE;
  return uk_fresh(m->limited, UK_NU + 1);
}

static PyMethodDef uk_servo_methods[] = {
    {"closure_error", (PyCFunction)(void (*)(void))uk_python_closure_error, METH_FASTCALL, NULL},
    {"errors", (PyCFunction)(void (*)(void))uk_python_errors, METH_FASTCALL, NULL},
    {"servo", (PyCFunction)(void (*)(void))uk_python_servo, METH_FASTCALL, NULL},
    {"allocate", (PyCFunction)(void (*)(void))uk_python_allocate, METH_FASTCALL, NULL},
};

/* All of them, bound to a memory. */
UK_EXPORT PyObject *uk_bind_servo(PyObject *memory) {
  if (PyArray_API == NULL && _import_array() < 0) return NULL;
  return Py_BuildValue("(NNNN)", PyCFunction_New(uk_servo_methods, memory),
                       PyCFunction_New(uk_servo_methods + 1, memory),
                       PyCFunction_New(uk_servo_methods + 2, memory),
                       PyCFunction_New(uk_servo_methods + 3, memory));
}

#endif
