/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What Python calls where its headers are there; see python.c. What the functions are bound to is
 * an array that holds the address of the tables. */
#pragma once

#include "cluster_evaluate.c"
#include "python_arrays.c"

/* Nothing is kept from one call to the next: those who ask again and again want to know how long it
 * takes. */
UK_EXPORT int uk_evaluate(uk_tree *t) {
  *t->ready = 0.0;
  return uk_answer_tree(t, 1);
}

#ifdef UK_PYTHON

static uk_tree *uk_tree_of(PyObject *self) {
  return *(uk_tree **)PyArray_DATA((PyArrayObject *)self);
}

static int uk_inputs(uk_tree *t, PyObject *q, PyObject *v, PyObject *tau) {
  *t->ready = 0.0;
  if (!uk_copy(q, t->q, t->positions) || !uk_copy(v, t->v, t->joints)) return 0;
  if (tau != Py_None) return uk_copy(tau, t->tau, t->joints);
  memset(t->tau, 0, sizeof(double) * t->joints);
  return 1;
}

static PyObject *uk_python_evaluate(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  uk_tree *t = uk_tree_of(self);
  if (count != 5 || !uk_inputs(t, args[2], args[3], args[4])) Py_RETURN_NOTIMPLEMENTED;
  *t->t = PyFloat_AsDouble(args[0]);
  *t->stabilize = PyFloat_AsDouble(args[1]);
  if (PyErr_Occurred()) return NULL;
  if (uk_answer_tree(t, 1)) Py_RETURN_NONE;
  return uk_fresh(t->t, t->answered);
}

static PyObject *uk_python_acceleration(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  uk_tree *t = uk_tree_of(self);
  if (count != 4 || !uk_inputs(t, args[1], args[2], args[3])) Py_RETURN_NOTIMPLEMENTED;
  *t->t = PyFloat_AsDouble(args[0]);
  *t->stabilize = 1.0;
  if (PyErr_Occurred()) return NULL;
  if (uk_answer_tree(t, 0)) Py_RETURN_NONE;
  return uk_fresh(t->qdd, t->joints);
}

static PyMethodDef uk_methods[] = {
    {"evaluate", (PyCFunction)(void (*)(void))uk_python_evaluate, METH_FASTCALL, NULL},
    {"acceleration", (PyCFunction)(void (*)(void))uk_python_acceleration, METH_FASTCALL, NULL},
};

/* Both functions, bound to tables. */
UK_EXPORT PyObject *uk_bind(PyObject *address) {
  if (PyArray_API == NULL && _import_array() < 0) return NULL;
  return Py_BuildValue("(NN)", PyCFunction_New(uk_methods, address),
                       PyCFunction_New(uk_methods + 1, address));
}

#endif
