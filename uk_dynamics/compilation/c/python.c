/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What Python calls where its headers are there: arrays in, a fresh array out, nothing between. The
 * memory is a NumPy array, to which these functions are bound. */
#pragma once

#include "attributes.h"
#include "python_arrays.c"
#include "uk_evaluation.h"
#include "uk_mechanism.h"

#ifdef UK_PYTHON


#define UK_ANSWERED offsetof(uk_memory, residual)

static uk_memory *uk_memory_of(PyObject *self) {
  return (uk_memory *)PyArray_DATA((PyArrayObject *)self);
}

static int uk_inputs(uk_memory *m, PyObject *q, PyObject *v, PyObject *tau) {
  if (!uk_copy(q, m->q, UK_NQ) || !uk_copy(v, m->v, UK_NV)) return 0;
  if (tau != Py_None) return uk_copy(tau, m->tau, UK_NV);
  memset(m->tau, 0, sizeof m->tau);
  return 1;
}

/* (t, stabilize, q, v, tau or None): inputs and answers; None where there is no answer,
 * NotImplemented for arguments that are not plain. */
static PyObject *uk_python_evaluate(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  uk_memory *m = uk_memory_of(self);
  if (count != 5 || !uk_inputs(m, args[2], args[3], args[4])) Py_RETURN_NOTIMPLEMENTED;
  m->t = PyFloat_AsDouble(args[0]);
  m->stabilize = PyFloat_AsDouble(args[1]);
  if (PyErr_Occurred()) return NULL;
  if (uk_evaluate(m)) Py_RETURN_NONE;
  return uk_fresh((const double *)m, UK_ANSWERED / sizeof(double));
}

/* (t, q, v, tau or None): the acceleration alone, likewise. */
static PyObject *uk_python_acceleration(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  uk_memory *m = uk_memory_of(self);
  if (count != 4 || !uk_inputs(m, args[1], args[2], args[3])) Py_RETURN_NOTIMPLEMENTED;
  m->t = PyFloat_AsDouble(args[0]);
  m->stabilize = 1.0;
  if (PyErr_Occurred()) return NULL;
  if (uk_answer(m, 0)) Py_RETURN_NONE;
  return uk_fresh(m->qdd, UK_NV);
}

static PyMethodDef uk_methods[] = {
    {"evaluate", (PyCFunction)(void (*)(void))uk_python_evaluate, METH_FASTCALL, NULL},
    {"acceleration", (PyCFunction)(void (*)(void))uk_python_acceleration, METH_FASTCALL, NULL},
};

/* Both functions, bound to a memory. */
UK_EXPORT PyObject *uk_bind(PyObject *memory) {
  if (PyArray_API == NULL && _import_array() < 0) return NULL;
  return Py_BuildValue("(NN)", PyCFunction_New(uk_methods, memory),
                       PyCFunction_New(uk_methods + 1, memory));
}

#endif
