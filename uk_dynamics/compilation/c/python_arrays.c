/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Arrays of Python as they come, where its headers are there. */
#pragma once

#include <stddef.h>
#include <string.h>

#ifdef UK_PYTHON

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>

/* Whether it could: only whole vectors of doubles, the rest is for slower code to convert. */
static int uk_copy(PyObject *from, double *to, npy_intp count) {
  if (!PyArray_Check(from)) return 0;
  PyArrayObject *array = (PyArrayObject *)from;
  if (PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != count) return 0;
  if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(array)) return 0;
  memcpy(to, PyArray_DATA(array), sizeof(double) * count);
  return 1;
}

static PyObject *uk_fresh(const double *values, npy_intp count) {
  PyObject *array = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
  if (array != NULL) memcpy(PyArray_DATA((PyArrayObject *)array), values, sizeof(double) * count);
  return array;
}

#endif
