/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Clang warns of functions of a file that this machine does not call and another one does. */
#pragma once

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function"
#endif
