/* The calls that are not simulated. They are counted, and tests can make them fail, as all other calls. */
#include "sim.h"

#define STUB(name)                                                              \
    API CUresult name(void);                                                    \
    API CUresult name(void) {                                                   \
        ENTER(name);                                                            \
        return CUDA_ERROR_NOT_SUPPORTED;                                        \
    }
SIM_STUBS(STUB)
