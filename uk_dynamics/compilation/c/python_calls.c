/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What Python calls where its headers are there: arrays in, a fresh array out, nothing between. The
 * functions are bound to a NumPy array, which says where inputs and answers are: python.c, or
 * cluster_python.c. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "attributes.h"

#ifdef UK_PYTHON

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>

typedef struct {
  double *t, *stabilize, *q, *v, *tau, *qdd; /* `t` is the first of all inputs and answers */
  npy_intp positions, velocities, answered;
} uk_bound;

static uk_bound uk_bound_to(void *data);
static int uk_bound_answer(void *data, int forces); /* as uk_answer */

/* Whether it could: only whole vectors of doubles, the rest is for slower code to convert. */
static int uk_copy(PyObject *from, double *to, npy_intp count) {
  if (!PyArray_Check(from)) return 0;
  PyArrayObject *array = (PyArrayObject *)from;
  if (PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != count) return 0;
  if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(array)) return 0;
  memcpy(to, PyArray_DATA(array), sizeof(double) * count);
  return 1;
}

/* Answers from arguments that end with q, v and tau or None: a fresh array; None where there is no
 * answer, NotImplemented for arguments that are not plain. */
static PyObject *uk_call(PyObject *self, PyObject *const *args, Py_ssize_t count, int forces) {
  void *data = PyArray_DATA((PyArrayObject *)self);
  const uk_bound b = uk_bound_to(data);
  PyObject *const *state = args + 1 + forces;
  if (count != 4 + forces || !uk_copy(state[0], b.q, b.positions)
      || !uk_copy(state[1], b.v, b.velocities)
      || (state[2] != Py_None && !uk_copy(state[2], b.tau, b.velocities)))
    Py_RETURN_NOTIMPLEMENTED;
  if (state[2] == Py_None) memset(b.tau, 0, sizeof(double) * b.velocities);
  *b.t = PyFloat_AsDouble(args[0]);
  *b.stabilize = forces ? PyFloat_AsDouble(args[1]) : 1.0;
  if (PyErr_Occurred()) return NULL;
  if (!isfinite(*b.t) || uk_bound_answer(data, forces)) Py_RETURN_NONE;
  npy_intp length = forces ? b.answered : b.velocities;
  PyObject *array = PyArray_SimpleNew(1, &length, NPY_DOUBLE);
  if (array != NULL)
    memcpy(PyArray_DATA((PyArrayObject *)array), forces ? b.t : b.qdd, sizeof(double) * length);
  return array;
}

/* (t, stabilize, q, v, tau or None): inputs and answers. */
static PyObject *uk_python_evaluate(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return uk_call(self, args, count, 1);
}

/* (t, q, v, tau or None): the acceleration alone, stabilised. */
static PyObject *uk_python_acceleration(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return uk_call(self, args, count, 0);
}

static PyMethodDef uk_methods[] = {
    {"evaluate", (PyCFunction)(void (*)(void))uk_python_evaluate, METH_FASTCALL, NULL},
    {"acceleration", (PyCFunction)(void (*)(void))uk_python_acceleration, METH_FASTCALL, NULL},
};

/* Both functions, bound to an array. */
UK_EXPORT PyObject *uk_bind(PyObject *array) {
  if (PyArray_API == NULL && _import_array() < 0) return NULL;
  return Py_BuildValue("(NN)", PyCFunction_New(uk_methods, array),
                       PyCFunction_New(uk_methods + 1, array));
}

#endif
