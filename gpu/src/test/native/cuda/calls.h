/*
 * The driver calls that JCuda 12.6.0 binds, by their symbols. All must exist, because using a missing one ends the
 * process.
 */
#ifndef CALLS_H
#define CALLS_H

/* The simulated calls. */
#define SIM_CALLS(X)                                                                                                   \
    X(cuInit) X(cuDriverGetVersion) X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetAttribute)      \
    X(cuDeviceGetPCIBusId) X(cuDeviceGetUuid)                                                                          \
    X(cuGetErrorName) X(cuGetErrorString) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2)                  \
    X(cuDevicePrimaryCtxGetState) X(cuDevicePrimaryCtxReset_v2) X(cuCtxCreate_v2) X(cuCtxDestroy_v2)                   \
    X(cuCtxPushCurrent_v2) X(cuCtxPopCurrent_v2) X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxGetDevice)               \
    X(cuCtxSynchronize) X(cuStreamCreate) X(cuStreamCreateWithPriority) X(cuStreamDestroy_v2) X(cuStreamQuery)         \
    X(cuStreamSynchronize) X(cuStreamWaitEvent) X(cuStreamBeginCapture_v2) X(cuStreamEndCapture)                       \
    X(cuStreamIsCapturing) X(cuThreadExchangeStreamCaptureMode) X(cuGraphDestroy) X(cuGraphInstantiateWithFlags)       \
    X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphExecUpdate_v2) X(cuEventCreate) X(cuEventRecord)                   \
    X(cuEventRecordWithFlags) X(cuEventQuery) X(cuEventSynchronize)                                                    \
    X(cuEventElapsedTime) X(cuEventDestroy_v2) X(cuModuleLoadData) X(cuModuleLoadDataEx) X(cuModuleUnload)             \
    X(cuModuleGetFunction) X(cuLaunchKernel) X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemAllocHost_v2) X(cuMemFreeHost)    \
    X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyDtoD_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync_v2)           \
    X(cuMemcpyDtoDAsync_v2)

/* The calls that return "not supported". */
#define SIM_STUBS(X)                                                                                                   \
    X(cuArray3DCreate_v2) X(cuArray3DGetDescriptor_v2) X(cuArrayCreate_v2) X(cuArrayDestroy)                           \
    X(cuArrayGetDescriptor_v2) X(cuArrayGetMemoryRequirements) X(cuArrayGetPlane) X(cuArrayGetSparseProperties)        \
    X(cuCtxAttach) X(cuCtxDetach) X(cuCtxDisablePeerAccess) X(cuCtxEnablePeerAccess) X(cuCtxGetApiVersion)             \
    X(cuCtxGetCacheConfig) X(cuCtxGetFlags) X(cuCtxGetId) X(cuCtxGetLimit) X(cuCtxGetSharedMemConfig)                  \
    X(cuCtxGetStreamPriorityRange) X(cuCtxSetCacheConfig) X(cuCtxSetLimit) X(cuCtxSetSharedMemConfig)                  \
    X(cuDeviceCanAccessPeer) X(cuDeviceComputeCapability) X(cuDeviceGetByPCIBusId) X(cuDeviceGetP2PAttribute)          \
    X(cuDeviceGetProperties) X(cuDeviceGetTexture1DLinearMaxWidth)                                                     \
    X(cuDevicePrimaryCtxSetFlags_v2) X(cuDeviceTotalMem_v2) X(cuFuncGetAttribute)            \
    X(cuFuncGetModule) X(cuFuncSetAttribute) X(cuFuncSetBlockShape) X(cuFuncSetCacheConfig)                            \
    X(cuFuncSetSharedMemConfig) X(cuFuncSetSharedSize) X(cuGLCtxCreate_v2) X(cuGLGetDevices_v2) X(cuGLInit)            \
    X(cuGLMapBufferObjectAsync_v2) X(cuGLMapBufferObject_v2) X(cuGLRegisterBufferObject)                               \
    X(cuGLSetBufferObjectMapFlags) X(cuGLUnmapBufferObject) X(cuGLUnmapBufferObjectAsync)                              \
    X(cuGLUnregisterBufferObject) X(cuGraphAddChildGraphNode) X(cuGraphAddDependencies) X(cuGraphAddEmptyNode)         \
    X(cuGraphAddEventRecordNode) X(cuGraphAddEventWaitNode) X(cuGraphAddHostNode) X(cuGraphAddKernelNode_v2)           \
    X(cuGraphAddMemcpyNode) X(cuGraphAddMemsetNode) X(cuGraphChildGraphNodeGetGraph) X(cuGraphClone) X(cuGraphCreate)  \
    X(cuGraphDestroyNode) X(cuGraphEventRecordNodeGetEvent) X(cuGraphEventRecordNodeSetEvent)                          \
    X(cuGraphEventWaitNodeGetEvent) X(cuGraphEventWaitNodeSetEvent) X(cuGraphExecChildGraphNodeSetParams)              \
    X(cuGraphExecEventRecordNodeSetEvent) X(cuGraphExecEventWaitNodeSetEvent) X(cuGraphExecHostNodeSetParams)          \
    X(cuGraphExecKernelNodeSetParams_v2) X(cuGraphExecMemcpyNodeSetParams) X(cuGraphExecMemsetNodeSetParams)           \
    X(cuGraphGetEdges) X(cuGraphGetNodes) X(cuGraphGetRootNodes) X(cuGraphHostNodeGetParams)                           \
    X(cuGraphHostNodeSetParams) X(cuGraphKernelNodeCopyAttributes) X(cuGraphKernelNodeGetAttribute)                    \
    X(cuGraphKernelNodeGetParams_v2) X(cuGraphKernelNodeSetAttribute) X(cuGraphKernelNodeSetParams_v2)                 \
    X(cuGraphMemcpyNodeGetParams) X(cuGraphMemcpyNodeSetParams) X(cuGraphMemsetNodeGetParams)                          \
    X(cuGraphNodeFindInClone) X(cuGraphNodeGetDependencies) X(cuGraphNodeGetDependentNodes) X(cuGraphNodeGetType)      \
    X(cuGraphRemoveDependencies) X(cuGraphUpload) X(cuGraphicsGLRegisterBuffer) X(cuGraphicsGLRegisterImage)           \
    X(cuGraphicsMapResources) X(cuGraphicsResourceGetMappedMipmappedArray) X(cuGraphicsResourceGetMappedPointer_v2)    \
    X(cuGraphicsResourceSetMapFlags_v2) X(cuGraphicsSubResourceGetMappedArray) X(cuGraphicsUnmapResources)             \
    X(cuGraphicsUnregisterResource) X(cuIpcCloseMemHandle) X(cuIpcGetEventHandle) X(cuIpcGetMemHandle)                 \
    X(cuIpcOpenEventHandle) X(cuIpcOpenMemHandle_v2) X(cuLaunch) X(cuLaunchCooperativeKernel)                          \
    X(cuLaunchCooperativeKernelMultiDevice) X(cuLaunchGrid) X(cuLaunchGridAsync) X(cuLaunchHostFunc)                   \
    X(cuLinkAddData_v2) X(cuLinkAddFile_v2) X(cuLinkComplete) X(cuLinkCreate_v2) X(cuLinkDestroy) X(cuMemAddressFree)  \
    X(cuMemAddressReserve) X(cuMemAdvise) X(cuMemAllocAsync) X(cuMemAllocFromPoolAsync) X(cuMemAllocManaged)           \
    X(cuMemAllocPitch_v2) X(cuMemCreate) X(cuMemExportToShareableHandle) X(cuMemFreeAsync) X(cuMemGetAccess)           \
    X(cuMemGetAddressRange_v2) X(cuMemGetAllocationGranularity) X(cuMemGetAllocationPropertiesFromHandle)              \
    X(cuMemGetInfo_v2) X(cuMemHostAlloc) X(cuMemHostGetDevicePointer_v2) X(cuMemHostGetFlags) X(cuMemHostRegister_v2)  \
    X(cuMemHostUnregister) X(cuMemImportFromShareableHandle) X(cuMemMap) X(cuMemPoolCreate) X(cuMemPoolDestroy)        \
    X(cuMemPoolTrimTo) X(cuMemPrefetchAsync) X(cuMemRangeGetAttribute) X(cuMemRangeGetAttributes) X(cuMemRelease)      \
    X(cuMemRetainAllocationHandle) X(cuMemSetAccess) X(cuMemUnmap) X(cuMemcpy) X(cuMemcpy2DAsync_v2)                   \
    X(cuMemcpy2DUnaligned_v2) X(cuMemcpy2D_v2) X(cuMemcpy3DAsync_v2) X(cuMemcpy3DPeer) X(cuMemcpy3DPeerAsync)          \
    X(cuMemcpy3D_v2) X(cuMemcpyAsync) X(cuMemcpyAtoA_v2) X(cuMemcpyAtoD_v2) X(cuMemcpyAtoHAsync_v2) X(cuMemcpyAtoH_v2) \
    X(cuMemcpyDtoA_v2) X(cuMemcpyHtoAAsync_v2) X(cuMemcpyHtoA_v2) X(cuMemcpyPeer) X(cuMemcpyPeerAsync)                 \
    X(cuMemsetD16Async) X(cuMemsetD16_v2) X(cuMemsetD2D16Async) X(cuMemsetD2D16_v2) X(cuMemsetD2D32Async)              \
    X(cuMemsetD2D32_v2) X(cuMemsetD2D8Async) X(cuMemsetD2D8_v2) X(cuMemsetD32Async) X(cuMemsetD32_v2)                  \
    X(cuMemsetD8Async) X(cuMemsetD8_v2) X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy)                           \
    X(cuMipmappedArrayGetLevel) X(cuMipmappedArrayGetMemoryRequirements) X(cuMipmappedArrayGetSparseProperties)        \
    X(cuModuleGetGlobal_v2) X(cuModuleGetLoadingMode) X(cuModuleGetSurfRef) X(cuModuleGetTexRef) X(cuModuleLoad)       \
    X(cuModuleLoadFatBinary) X(cuOccupancyAvailableDynamicSMemPerBlock) X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(cuOccupancyMaxPotentialBlockSize)                        \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags) X(cuParamSetSize) X(cuParamSetTexRef) X(cuParamSetf) X(cuParamSeti)   \
    X(cuParamSetv) X(cuPointerGetAttribute) X(cuPointerGetAttributes) X(cuPointerSetAttribute) X(cuProfilerInitialize) \
    X(cuProfilerStart) X(cuProfilerStop) X(cuStreamAddCallback) X(cuStreamAttachMemAsync) X(cuStreamCopyAttributes)    \
    X(cuStreamGetAttribute) X(cuStreamGetCtx) X(cuStreamGetFlags) X(cuStreamGetId) X(cuStreamGetPriority)              \
    X(cuStreamSetAttribute) X(cuStreamWaitValue32_v2) X(cuStreamWaitValue64_v2) X(cuStreamWriteValue32_v2)             \
    X(cuStreamWriteValue64_v2) X(cuSurfObjectCreate) X(cuSurfObjectDestroy) X(cuSurfObjectGetResourceDesc)             \
    X(cuSurfRefGetArray) X(cuSurfRefSetArray) X(cuTexObjectCreate) X(cuTexObjectDestroy) X(cuTexObjectGetResourceDesc) \
    X(cuTexObjectGetResourceViewDesc) X(cuTexObjectGetTextureDesc) X(cuTexRefCreate) X(cuTexRefDestroy)                \
    X(cuTexRefGetAddressMode) X(cuTexRefGetAddress_v2) X(cuTexRefGetArray) X(cuTexRefGetBorderColor)                   \
    X(cuTexRefGetFilterMode) X(cuTexRefGetFlags) X(cuTexRefGetFormat) X(cuTexRefGetMaxAnisotropy)                      \
    X(cuTexRefGetMipmapFilterMode) X(cuTexRefGetMipmapLevelBias) X(cuTexRefGetMipmapLevelClamp)                        \
    X(cuTexRefGetMipmappedArray) X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode) X(cuTexRefSetAddress_v2)         \
    X(cuTexRefSetArray) X(cuTexRefSetBorderColor) X(cuTexRefSetFilterMode) X(cuTexRefSetFlags) X(cuTexRefSetFormat)    \
    X(cuTexRefSetMaxAnisotropy) X(cuTexRefSetMipmapFilterMode) X(cuTexRefSetMipmapLevelBias)                           \
    X(cuTexRefSetMipmapLevelClamp) X(cuTexRefSetMipmappedArray)

#endif
