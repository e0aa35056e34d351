package org.brickprofiler.device.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.write.ChromeWriter;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bricks of a real driver of OpenCL on the host's timeline, and in files. */
class OpenClTimelineTest {

    private static final long BUSY_NS = 30_000_000;
    private static final long WORK_NS = 100_000;
    /**
     * The least error if only the work before and after a brick bounds its time, even if the host sets the marks late.
     */
    private static final long WIDE_NS = BUSY_NS / 2;

    private RealOpenCl opencl;
    private long queue;
    private FaultyOpenCl layer;

    /** The readings of the host's clock, ns. */
    private final ConcurrentLinkedDeque<Long> readings = new ConcurrentLinkedDeque<>();

    private final TraceRecorder recorder =
            TraceRecorder.builder().clock(this::read).build();

    private long read() {
        long ns = System.nanoTime();
        readings.add(ns);
        return ns;
    }

    @BeforeEach
    void start() {
        opencl = new RealOpenCl();
        queue = opencl.queue(RealOpenCl.IN_ORDER);
        layer = new FaultyOpenCl(opencl.driver);
    }

    @AfterEach
    void close() {
        if (opencl != null) {
            opencl.close();
        }
    }

    private OpenClStream open() {
        return OpenClStream.on(queue).name("decode").open(layer.support());
    }

    private BrickProfiler profiler(OpenClStream stream) {
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(this::read)
                .deviceStream(stream)
                .tracing(recorder)
                .build();
        profiler.enable();
        return profiler;
    }

    /** Returns the host's times of the bricks on the stream's track. */
    private List<long[]> samples() {
        Timeline timeline = recorder.timeline();
        List<long[]> samples = new ArrayList<>();
        for (int track = 0; track < timeline.tracks().size(); track++) {
            if (timeline.tracks().get(track).name().equals("decode")) {
                timeline.replay(track, new TimelineVisitor() {
                    @Override
                    public void span(Span span) {
                        samples.add(new long[] {span.startNs(), span.endNs()});
                    }

                    @Override
                    public void instant(long atNs, int name) {
                        throw new AssertionError("an instant");
                    }

                    @Override
                    public void counter(long atNs, double value) {
                        throw new AssertionError("a counter");
                    }
                });
            }
        }
        return samples;
    }

    /**
     * Runs a brick between two pieces of work, and resolves it when all is done. Both pieces lie between setting the
     * marks and resolving, so these bounds of the brick's time are wide.
     *
     * @return the largest error of the host's times, ns
     */
    private long brickOfABusyDevice(long aheadNs) {
        try (OpenClStream stream = open()) {
            BrickProfiler profiler = profiler(stream);
            opencl.work(queue, BUSY_NS);
            long timer = profiler.startBrick(BrickId.LM_HEAD);
            long work = opencl.timedWork(queue, WORK_NS);
            profiler.stopBrick(timer, 1);
            long after = opencl.timedWork(queue, BUSY_NS);
            opencl.finish(queue);
            profiler.endPassAsync();

            long errorNs = profiler.snapshot().streams().get(0).clockErrorNs();
            assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isOne();
            assertThat(recorder.timeline().info().clockErrorNs()).hasValue(errorNs);
            List<long[]> samples = samples();
            assertThat(samples).hasSize(1);
            // Its mark lies between the end of its work and the beginning of the next.
            assertThat(samples.get(0)[1])
                    .isBetween(
                            opencl.profile(work, OpenCl.COMMAND_END) - aheadNs - errorNs,
                            opencl.profile(after, OpenCl.COMMAND_START) - aheadNs + errorNs);
            RealOpenCl.check(opencl.driver.clReleaseEvent(work));
            RealOpenCl.check(opencl.driver.clReleaseEvent(after));
            return errorNs;
        }
    }

    @Spec("12.13")
    @Test
    void withoutAClockOfTheDeviceTheMarksBoundTheError() {
        // PoCL refuses the function.
        try (OpenClStream stream = open()) {
            int mark = stream.mark();
            assertThat(stream.waitFor(mark)).isTrue();
            assertThat(stream.sinceNs(mark)).isEqualTo(OpenClStream.UNRESOLVED);
            assertThat(stream.failure()).isEmpty();
        }
        assertThat(brickOfABusyDevice(opencl.aheadNs(queue))).isGreaterThanOrEqualTo(WIDE_NS);
    }

    @Spec("12.42")
    @ParameterizedTest
    @ValueSource(longs = {0, 5_000_000_000L})
    void withAClockTheReadingOfItBoundsTheError(long pairAgeNs) {
        long aheadNs = opencl.aheadNs(queue);
        ConcurrentLinkedDeque<Long> deviceReadings = new ConcurrentLinkedDeque<>();
        layer.clock = () -> {
            long ns = System.nanoTime();
            deviceReadings.add(ns);
            return ns + aheadNs;
        };
        layer.pairAgeNs = pairAgeNs;
        long errorNs = brickOfABusyDevice(aheadNs);

        long readNs = deviceReadings.getLast();
        long beforeNs = readings.stream()
                .mapToLong(ns -> ns)
                .filter(ns -> ns <= readNs)
                .max()
                .orElseThrow();
        long afterNs = readings.stream()
                .mapToLong(ns -> ns)
                .filter(ns -> ns >= readNs)
                .min()
                .orElseThrow();
        assertThat(errorNs).isBetween(0L, (afterNs - beforeNs + 1) / 2);
    }

    @Spec("12.42")
    @ParameterizedTest
    @ValueSource(longs = {1_000_000_000, -1_000_000_000})
    void aClockThatContradictsTheMarksIsNotUsed(long offNs) {
        long aheadNs = opencl.aheadNs(queue);
        layer.clock = () -> System.nanoTime() + aheadNs + offNs;

        assertThat(brickOfABusyDevice(aheadNs)).isGreaterThanOrEqualTo(WIDE_NS);
    }

    @Spec("12.42")
    @ParameterizedTest
    @ValueSource(strings = {"clGetDeviceAndHostTimer", "clGetHostTimer"})
    void aClockThatFailsLaterIsReported(String function) {
        layer.clock = System::nanoTime;
        try (OpenClStream stream = open()) {
            int mark = stream.mark();
            assertThat(stream.waitFor(mark)).isTrue();
            layer.fail(function, 1, 1, -5);

            assertThat(stream.sinceNs(mark)).isEqualTo(OpenClStream.UNRESOLVED);
            assertThat(stream.failure())
                    .contains("clGetDeviceAndHostTimer and clGetHostTimer returned CL_OUT_OF_RESOURCES (-5)");
            assertThat(stream.isUsable()).isTrue();
        }
    }

    @Spec("13.5")
    @Test
    void filesNameTheDeviceAndTheStreamAndTheError() throws IOException {
        String device = RealOpenCl.support().deviceNames().get(0);
        try (OpenClStream stream = open()) {
            BrickProfiler profiler = profiler(stream);
            for (int i = 0; i < 2; i++) {
                long timer = profiler.startBrick(BrickId.LM_HEAD);
                opencl.work(queue, WORK_NS);
                profiler.stopBrick(timer, 1);
            }
            profiler.endPass();
        }
        Timeline timeline = recorder.timeline();
        long errorNs = timeline.info().clockErrorNs().orElseThrow();

        assertThat(timeline.info().devices())
                .extracting(Device::name, Device::backend)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(device, Backend.OPENCL));
        assertThat(samples()).hasSize(2).allSatisfy(sample -> assertThat(sample[1] - sample[0])
                .isGreaterThanOrEqualTo(WORK_NS));

        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ChromeWriter.write(timeline, out);
        JsonNode chrome = new ObjectMapper().readTree(out.toByteArray());
        assertThat(chrome.get("clockErrorNs").longValue()).isEqualTo(errorNs);
        assertThat(chrome.findValuesAsText("name")).contains(device, "decode", "LmHead");

        out.reset();
        PerfettoWriter.write(timeline, out);
        List<PerfettoTrace.TrackDescriptor> tracks =
                PerfettoTrace.Trace.parseFrom(out.toByteArray()).getPacketList().stream()
                        .filter(PerfettoTrace.TracePacket::hasTrackDescriptor)
                        .map(PerfettoTrace.TracePacket::getTrackDescriptor)
                        .toList();
        assertThat(tracks).extracting(PerfettoTrace.TrackDescriptor::getName).contains("decode");
        assertThat(tracks).anySatisfy(track -> assertThat(track.getProcess().getProcessLabelsList())
                .anySatisfy(label -> assertThat(label).startsWith("device times within ")));
    }
}
