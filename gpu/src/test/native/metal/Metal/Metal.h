/*
 * The part of Apple's Metal that the shim uses, declared for a simulated device. Names, types and numbers are those of
 * the real interface, so that one source compiles against both. The continuous integration on macOS detects
 * differences. fake_metal.m implements it.
 */
#ifndef FAKE_METAL_METAL_H
#define FAKE_METAL_METAL_H

#import <Foundation/Foundation.h>
#include <stdint.h>
#include <time.h>

typedef double CFTimeInterval;
typedef uint64_t MTLTimestamp;

/* From macOS's <time.h>. */
#define CLOCK_UPTIME_RAW 8
uint64_t clock_gettime_nsec_np(int clock);

typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) {
  MTLCommandBufferStatusNotEnqueued = 0,
  MTLCommandBufferStatusEnqueued = 1,
  MTLCommandBufferStatusCommitted = 2,
  MTLCommandBufferStatusScheduled = 3,
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5,
};

typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
  MTLCounterSamplingPointAtStageBoundary = 0,
  MTLCounterSamplingPointAtDrawBoundary = 1,
  MTLCounterSamplingPointAtDispatchBoundary = 2,
  MTLCounterSamplingPointAtTileDispatchBoundary = 3,
  MTLCounterSamplingPointAtBlitBoundary = 4,
};

typedef NS_ENUM(NSUInteger, MTLStorageMode) {
  MTLStorageModeShared = 0,
  MTLStorageModeManaged = 1,
  MTLStorageModePrivate = 2,
};

#define MTLCounterErrorValue ((uint64_t)~0ULL)

typedef struct {
  uint64_t timestamp;
} MTLCounterResultTimestamp;

typedef NSString *MTLCommonCounterSet;
extern MTLCommonCounterSet const MTLCommonCounterSetTimestamp;

@protocol MTLDevice;
@protocol MTLCommandBuffer;

typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);

@protocol MTLCounterSet <NSObject>
@property(readonly, copy) NSString *name;
@end

@protocol MTLCounterSampleBuffer <NSObject>
- (NSData *)resolveCounterRange:(NSRange)range;
@end

@interface MTLCounterSampleBufferDescriptor : NSObject {
  id<MTLCounterSet> counterSet;
  MTLStorageMode storageMode;
  NSUInteger sampleCount;
}
@property(readwrite, retain) id<MTLCounterSet> counterSet;
@property(readwrite) MTLStorageMode storageMode;
@property(readwrite) NSUInteger sampleCount;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject {
  id<MTLCounterSampleBuffer> sampleBuffer;
  NSUInteger startOfEncoderSampleIndex;
  NSUInteger endOfEncoderSampleIndex;
}
@property(readwrite, retain) id<MTLCounterSampleBuffer> sampleBuffer;
@property(readwrite) NSUInteger startOfEncoderSampleIndex;
@property(readwrite) NSUInteger endOfEncoderSampleIndex;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject {
  MTLComputePassSampleBufferAttachmentDescriptor *first;
}
- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index;
@end

@interface MTLComputePassDescriptor : NSObject {
  MTLComputePassSampleBufferAttachmentDescriptorArray *attachments;
}
@property(readonly) MTLComputePassSampleBufferAttachmentDescriptorArray *sampleBufferAttachments;
@end

@protocol MTLComputeCommandEncoder <NSObject>
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)sampleBuffer
                 atSampleIndex:(NSUInteger)sampleIndex
                   withBarrier:(BOOL)barrier;
- (void)endEncoding;
@end

@protocol MTLCommandBuffer <NSObject>
@property(copy) NSString *label;
@property(readonly) MTLCommandBufferStatus status;
@property(readonly) NSError *error;
@property(readonly) CFTimeInterval kernelStartTime;
@property(readonly) CFTimeInterval kernelEndTime;
@property(readonly) CFTimeInterval GPUStartTime;
@property(readonly) CFTimeInterval GPUEndTime;
- (void)addCompletedHandler:(MTLCommandBufferHandler)block;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)descriptor;
- (void)commit;
@end

@protocol MTLCommandQueue <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
- (id<MTLCommandBuffer>)commandBuffer;
@end

@protocol MTLDevice <NSObject>
@property(readonly) NSString *name;
@property(readonly) NSArray *counterSets;
- (id<MTLCommandQueue>)newCommandQueue;
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)samplingPoint;
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor *)descriptor
                                                             error:(NSError **)error;
- (void)sampleTimestamps:(MTLTimestamp *)cpuTimestamp gpuTimestamp:(MTLTimestamp *)gpuTimestamp;
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void);

#endif
