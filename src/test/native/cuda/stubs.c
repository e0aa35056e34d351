/* The calls that are not simulated. They are counted, and may be made to fail, like all others. */
#include "sim.h"

#define STUB(name)                                                              \
    API CUresult name(void);                                                    \
    API CUresult name(void) {                                                   \
        ENTER(name);                                                            \
        return CUDA_ERROR_NOT_SUPPORTED;                                        \
    }
SIM_STUBS(STUB)
