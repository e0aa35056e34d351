package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.resources.Resource;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.AnnotatedTypeVariable;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.TypeVariable;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jcuda.driver.CUcontext;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstream;
import jdk.jfr.Recording;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.device.ClockConversion;
import org.brickprofiler.device.CpuTimer;
import org.brickprofiler.device.DispatchTimer;
import org.brickprofiler.device.HostStream;
import org.brickprofiler.device.ProbeTimer;
import org.brickprofiler.device.cuda.CudaCapture;
import org.brickprofiler.device.cuda.CudaStream;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.brickprofiler.device.metal.MetalStream;
import org.brickprofiler.device.metal.SimulatedMetal;
import org.brickprofiler.device.opencl.OpenClStream;
import org.brickprofiler.device.opencl.RealOpenCl;
import org.brickprofiler.graph.CriticalPath;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.graph.KernelRegistry;
import org.brickprofiler.internal.base.CloseActions;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.record.OwnSamples;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.kernel.KernelTimings;
import org.brickprofiler.metrics.micrometer.BrickMetrics;
import org.brickprofiler.metrics.otel.BrickMetricProducer;
import org.brickprofiler.metrics.prometheus.MetricsPage;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.PagePart;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.request.LatencyHistogram;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.roofline.MachineRoof;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.spi.SampleTimes;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.DeviceTrack;
import org.brickprofiler.trace.FrameLines;
import org.brickprofiler.trace.LineLog;
import org.brickprofiler.trace.LineRecording;
import org.brickprofiler.trace.SourceLinks;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.internal.LatestTimes;
import org.brickprofiler.trace.internal.RequestWaits;
import org.brickprofiler.trace.internal.StopLog;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.brickprofiler.trace.otel.TimelineSpanProcessor;
import org.brickprofiler.trace.read.GzipMembers;
import org.brickprofiler.trace.read.TraceRules;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every public method and constructor of every public type is called with null for each of its parameters in turn, and
 * must refuse it with a message that names the parameter, unless the parameter is marked {@code @Nullable}. The test
 * creates the other arguments. A type that it cannot create fails the test, so no method is left out silently.
 */
final class NullArgumentsTest {

    /** The packages that only the library itself calls, and those of the programs. */
    private static final Pattern INTERNAL = Pattern.compile(
            "org\\.brickprofiler\\.(internal|report\\.internal|trace\\.jfr\\.internal|(export|trace)\\.setting|device\\.polling|metrics\\.[A-Z]\\w+|agent|cli|console|fleet|demo|gpucheck)\\b.*");

    @TempDir
    private Path folder;

    private final Map<Class<?>, Supplier<Object>> instances = new HashMap<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    NullArgumentsTest() {
        instances.put(BrickProfiler.class, BrickProfiler::enabled);
        instances.put(ThreadProfiler.class, () -> BrickProfiler.enabled().forThisThread());
        instances.put(BrickProfilerBuilder.class, BrickProfiler::builder);
        instances.put(PagePart.class, () -> PagePart.element("part", "1"));
        instances.put(LatencyDistribution.class, () -> LatencyDistribution.EMPTY);
        instances.put(ChecksumLog.class, () -> BrickProfiler.enabled().checksums());
        instances.put(SampleTimes.class, NullArgumentsTest::sampleTimes);
        instances.put(ExecutionGraph.class, ExecutionGraph::new);
        instances.put(CallTree.class, () -> CallTree.EMPTY);
        instances.put(
                HtmlReport.class, () -> HtmlReport.of(BrickProfiler.enabled().snapshot()));
        instances.put(RunIdentity.class, () -> RunIdentity.NONE);
        instances.put(KernelRegistry.class, KernelRegistry::new);
        instances.put(KernelTimings.class, KernelTimings::new);
        instances.put(GraphRecorder.class, NullArgumentsTest::graph);
        instances.put(ChecksumEntry.class, NullArgumentsTest::checksum);
        instances.put(ExecutionNode.class, () -> new ExecutionNode.Layer(0));
        instances.put(CriticalPath.class, NullArgumentsTest::path);
        instances.put(TileProfiler.class, NullArgumentsTest::tiles);
        instances.put(HostStream.class, () -> closing(new HostStream()));
        instances.put(BrickStream.class, () -> onHostStream().stream("host"));
        instances.put(CloseActions.class, CloseActions::new);
        instances.put(ClockConversion.class, () -> ClockConversion.IDENTITY);
        instances.put(TableRegistry.class, () -> new TableRegistry(4, false));
        instances.put(
                DeviceRecorder.class,
                () -> new DeviceRecorder(
                        NanoClock.SYSTEM,
                        new TableRegistry(4, false),
                        List.of(closing(new HostStream())),
                        1,
                        DeviceRecorder.Tracing.NONE));
        instances.put(Recording.class, () -> closing(new Recording()));
        instances.put(RequestRecorder.class, () -> new RequestRecorder(NanoClock.SYSTEM, () -> 0));
        instances.put(
                RequestRecord.class, () -> new RequestRecord(0, 0, 0, 0, 0, 0, Outcome.COMPLETED, Map.of(), 0, 0));
        instances.put(DispatchTimer.class, () -> new DispatchTimer(closing(new HostStream()), 4));
        instances.put(
                ProbeTimer.class, () -> ProbeTimer.startIf(true, new CpuTimer()).orElseThrow());
        instances.put(TraceRecorder.class, TraceRecorder::new);
        instances.put(VirtualMachineStops.class, () -> closing(VirtualMachineStops.of(new TraceRecorder())));
        instances.put(TraceRecorder.Builder.class, TraceRecorder::builder);
        instances.put(
                LineLog.class,
                () -> TraceRecorder.builder().lines(true).build().lineLog().orElseThrow());
        instances.put(FrameLines.class, FrameLines::new);
        instances.put(LineRecording.class, LineRecording::new);
        instances.put(SourceLinks.class, () -> SourceLinks.to(List.of()));
        instances.put(DeviceTrack.class, () -> new TraceRecorder()
                .stream(new Device(0, "gpu", Backend.CUDA, OptionalLong.empty()), "s", 1));
        instances.put(TimelineSpanProcessor.class, () -> TimelineSpanProcessor.Factory.create(new TraceRecorder()));
        instances.put(BrickMetrics.class, () -> BrickMetrics.Factory.create(BrickProfiler.enabled()));
        instances.put(BrickMetricProducer.class, () -> BrickMetricProducer.Factory.create(BrickProfiler.enabled()));
        instances.put(Attributes.class, () -> Attributes.builder()
                .put("gen_ai.operation.name", "chat")
                .put("gen_ai.provider.name", "test")
                .build());
        instances.put(MeterRegistry.class, SimpleMeterRegistry::new);
        instances.put(Resource.class, Resource::empty);
        instances.put(MachineRoof.class, NullArgumentsTest::machineRoof);
        instances.put(TraceRules.class, TraceRules::builtIn);
        instances.put(GzipMembers.class, () -> new GzipMembers(InputStream.nullInputStream(), 1));
        instances.put(CudaStream.Builder.class, NullArgumentsTest::cudaStream);
        instances.put(CudaStream.class, () -> closing(cudaStream().open()));
        instances.put(CudaCapture.class, () -> closing(cudaStream().open()).capture());
        instances.put(CUcontext.class, CUcontext::new);
        instances.put(CUstream.class, CUstream::new);
        instances.put(MetalStream.Builder.class, NullArgumentsTest::metalStream);
        instances.put(MetalStream.class, () -> closing(metalStream().open()));
        instances.put(OpenClStream.Builder.class, this::openClStream);
        instances.put(OpenClStream.class, () -> closing(openClStream().open()));
    }

    private static MachineRoof machineRoof() {
        MachineRoof.Rate rate = new MachineRoof.Rate(1, 1, 1);
        return new MachineRoof(
                Environment.current(),
                Instant.EPOCH,
                List.of(new MachineRoof.Bandwidth("", 1, rate, rate, rate, rate)),
                rate,
                rate);
    }

    private static CudaStream.Builder cudaStream() {
        SimulatedCuda.start();
        return CudaStream.onDevice(0);
    }

    private static MetalStream.Builder metalStream() {
        SimulatedMetal.start();
        return MetalStream.onDevice();
    }

    private OpenClStream.Builder openClStream() {
        RealOpenCl opencl = new RealOpenCl();
        return OpenClStream.on(closing(opencl).queue(RealOpenCl.IN_ORDER));
    }

    private static GraphRecorder graph() {
        GraphRecorder graph = new GraphRecorder(NanoClock.SYSTEM);
        graph.enable();
        return graph;
    }

    private static TileProfiler tiles() {
        TileProfiler tiles = new TileProfiler(NanoClock.SYSTEM);
        tiles.enable();
        return tiles;
    }

    private static ChecksumEntry checksum() {
        ChecksumLog log = new ChecksumLog();
        log.record("name", 0, 0, new float[] {1});
        return log.list().get(0);
    }

    private static CriticalPath path() {
        ExecutionGraph graph = new ExecutionGraph();
        graph.addNode(new ExecutionNode.Layer(0));
        return CriticalPath.of(graph);
    }

    private BrickProfiler onHostStream() {
        BrickProfiler profiler = offOnHostStream();
        profiler.enable();
        return profiler;
    }

    private BrickProfiler offOnHostStream() {
        return BrickProfiler.builder()
                .deviceStream("host", closing(new HostStream()))
                .build();
    }

    private <T extends AutoCloseable> T closing(T resource) {
        opened.add(resource);
        return resource;
    }

    @AfterEach
    void closeStreams() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private static List<Class<?>> publicTypes() throws IOException {
        List<Class<?>> types = new ArrayList<>();
        for (Path project : SourceTree.projects()) {
            Path root = project.resolve(Path.of("target", "classes"));
            if (Files.isDirectory(root)) {
                try (Stream<Path> files = Files.walk(root)) {
                    files.sorted()
                            .map(file -> root.relativize(file).toString().replace('/', '.'))
                            .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                            .filter(name -> !INTERNAL.matcher(name).matches())
                            .map(name -> load(name.substring(0, name.length() - ".class".length())))
                            .filter(NullArgumentsTest::isPublic)
                            .forEach(types::add);
                }
            }
        }
        return types;
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, NullArgumentsTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isPublic(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getDeclaringClass()) {
            if (!Modifier.isPublic(each.getModifiers())) {
                return false;
            }
        }
        return true;
    }

    @Spec("2.8")
    @TestFactory
    Stream<DynamicTest> everyParameterIsRefusedByName() throws Exception {
        return publicTypes().stream()
                .flatMap(NullArgumentsTest::withPartsThatAreNotPublic)
                .flatMap(type -> Stream.<Executable>concat(
                        Arrays.stream(type.getDeclaredConstructors()), Arrays.stream(type.getDeclaredMethods())))
                .filter(NullArgumentsTest::isCalledFromOutside)
                .flatMap(called -> IntStream.range(0, called.getParameterCount())
                        .filter(i -> mustNotBeNull(called, i))
                        .mapToObj(i -> DynamicTest.dynamicTest(
                                called.toGenericString().replace("org.brickprofiler.", "") + " #" + i,
                                () -> requireRefusal(called, i))));
    }

    /** Types with a switch refuse null also while they are off and record nothing. */
    @Spec({"2.7", "2.8"})
    @TestFactory
    Stream<DynamicTest> everyParameterIsRefusedByNameWhileOff() {
        BrickProfiler off = new BrickProfiler();
        Map<Class<?>, Object> switchedOff = Map.of(
                BrickProfiler.class, off,
                ThreadProfiler.class, off.forThisThread(),
                BrickStream.class, offOnHostStream().stream("host"),
                RequestRecorder.class, off.requests(),
                TileProfiler.class, new TileProfiler(NanoClock.SYSTEM));
        switchedOff.forEach((type, instance) -> instances.put(type, () -> instance));
        return switchedOff.keySet().stream()
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(NullArgumentsTest::isCalledFromOutside)
                .flatMap(called -> IntStream.range(0, called.getParameterCount())
                        .filter(i -> mustNotBeNull(called, i))
                        .mapToObj(i -> DynamicTest.dynamicTest(
                                called.toGenericString().replace("org.brickprofiler.", "") + " #" + i,
                                () -> requireRefusal(called, i))));
    }

    /** A type and the classes above it whose public methods are called as its own. */
    private static Stream<Class<?>> withPartsThatAreNotPublic(Class<?> type) {
        return Stream.iterate(
                type, each -> each != null && (each == type || !isPublic(each)), each -> each.getSuperclass());
    }

    private static boolean isCalledFromOutside(Executable called) {
        boolean compiled = called.isSynthetic()
                || (called.getName().equals("equals") && called.getParameterCount() == 1)
                || (called.getName().equals("valueOf")
                        && called.getDeclaringClass().isEnum());
        return Modifier.isPublic(called.getModifiers())
                && !Modifier.isAbstract(called.getModifiers())
                && !(called instanceof Constructor
                        && Modifier.isAbstract(called.getDeclaringClass().getModifiers()))
                && !compiled;
    }

    private static boolean mustNotBeNull(Executable called, int i) {
        Parameter parameter = called.getParameters()[i];
        return !parameter.getType().isPrimitive() && !isNullable(parameter.getAnnotatedType());
    }

    private static boolean isNullable(AnnotatedType type) {
        if (type.isAnnotationPresent(Nullable.class)) {
            return true;
        }
        if (type instanceof AnnotatedTypeVariable) {
            TypeVariable<?> variable = (TypeVariable<?>) type.getType();
            return Arrays.stream(variable.getAnnotatedBounds()).anyMatch(NullArgumentsTest::isNullable);
        }
        return false;
    }

    private void requireRefusal(Executable called, int position) throws Exception {
        Parameter parameter = called.getParameters()[position];
        assertThat(parameter.isNamePresent()).as("compiled with -parameters").isTrue();
        @Nullable Object[] arguments = arguments(called);
        arguments[position] = null;
        Throwable refusal = new AssertionError(parameter.getName() + " = null is accepted");
        try {
            if (called instanceof Constructor<?> constructor) {
                constructor.newInstance(arguments);
            } else {
                Method method = (Method) called;
                method.invoke(
                        Modifier.isStatic(method.getModifiers()) ? null : instance(method.getDeclaringClass()),
                        arguments);
            }
        } catch (InvocationTargetException e) {
            refusal = Objects.requireNonNullElse(e.getCause(), e);
        }
        assertThat(refusal).isInstanceOfAny(NullPointerException.class, IllegalArgumentException.class);
        // The virtual machine's own message about a null dereference has the position: the classes keep no names of
        // locals.
        assertThat(refusal.getMessage())
                .containsPattern("\\b" + parameter.getName() + "\\b|<parameter" + (position + 1) + ">");
    }

    private static SampleTimes sampleTimes() {
        return new OwnSamples() {
            @Override
            public int key(String name) {
                return -1;
            }

            @Override
            public @Nullable StatTable table() {
                return null;
            }

            @Override
            public long nowNs() {
                return 0;
            }
        };
    }

    // ---- arguments ----

    private @Nullable Object[] arguments(Executable called) throws Exception {
        Class<?>[] types = called.getParameterTypes();
        @Nullable Object[] arguments = new @Nullable Object[types.length];
        for (int i = 0; i < types.length; i++) {
            arguments[i] = instance(types[i]);
        }
        return arguments;
    }

    private Object instance(Class<?> type) throws Exception {
        if (instances.containsKey(type)) {
            return instances.get(type).get();
        }
        if (type.isPrimitive()) {
            Object ones = Array.newInstance(type, 1);
            if (type != boolean.class) {
                Array.setByte(ones, 0, (byte) 1);
            }
            return Array.get(ones, 0);
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        if (type.isArray()) {
            return Array.newInstance(type.getComponentType(), 4);
        }
        Object usual = usual(type);
        if (usual != null) {
            return usual;
        }
        if (type.isRecord()) {
            Class<?>[] components = Arrays.stream(type.getRecordComponents())
                    .map(RecordComponent::getType)
                    .toArray(Class<?>[]::new);
            Constructor<?> canonical = type.getDeclaredConstructor(components);
            return canonical.newInstance(arguments(canonical));
        }
        Class<?> owner = type.getDeclaringClass();
        if (owner != null && owner.isRecord() && type.getSimpleName().equals("Builder")) {
            Method builder = Arrays.stream(owner.getMethods())
                    .filter(method -> method.getName().equals("builder"))
                    .findFirst()
                    .orElseThrow();
            return builder.invoke(null, arguments(builder));
        }
        if (type.isInterface() && !type.isSealed()) {
            return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
                if (method.getDeclaringClass() == Object.class) {
                    return method.getName().equals("equals") ? (Object) (self == args[0]) : (Object) 7;
                }
                if (method.isDefault()) {
                    return InvocationHandler.invokeDefault(self, method, args);
                }
                return method.getReturnType() == void.class ? null : instance(method.getReturnType());
            });
        }
        throw new AssertionError("how is a " + type.getName() + " made?");
    }

    private @Nullable Object usual(Class<?> type) {
        Map<Class<?>, Object> usual = Map.ofEntries(
                Map.entry(String.class, "name"),
                Map.entry(LatestTimes.class, new LatestTimes<>(1)),
                Map.entry(StopLog.class, new StopLog()),
                Map.entry(
                        RequestWaits.class, new RequestWaits("a test", new StopLog(), RequestWaits.Processors.UNKNOWN)),
                Map.entry(Boolean.class, true),
                Map.entry(LatencyHistogram.class, LatencyHistogram.empty(LatencyHistogram.Kind.DURATION)),
                Map.entry(MetricsPage.class, new MetricsPage()),
                Map.entry(LogRecord.class, new LogRecord(Level.INFO, "message")),
                Map.entry(CharSequence.class, "name"),
                Map.entry(Thread.class, Thread.currentThread()),
                Map.entry(Object.class, "object"),
                Map.entry(Path.class, folder.resolve("file.json")),
                Map.entry(InputStream.class, new ByteArrayInputStream(new byte[0])),
                Map.entry(OutputStream.class, new ByteArrayOutputStream()),
                Map.entry(Appendable.class, new StringBuilder()),
                Map.entry(Duration.class, Duration.ofSeconds(1)),
                Map.entry(Instant.class, Instant.EPOCH),
                Map.entry(Iterable.class, List.of()),
                Map.entry(List.class, List.of()),
                Map.entry(Collection.class, List.of()),
                Map.entry(Set.class, Set.of()),
                Map.entry(Map.class, Map.of()),
                Map.entry(Optional.class, Optional.empty()),
                Map.entry(OptionalInt.class, OptionalInt.empty()),
                Map.entry(OptionalLong.class, OptionalLong.empty()),
                Map.entry(OptionalDouble.class, OptionalDouble.empty()),
                Map.entry(ByteBuffer.class, ByteBuffer.allocate(16)),
                Map.entry(FloatBuffer.class, FloatBuffer.allocate(4)),
                Map.entry(NanoClock.class, NanoClock.SYSTEM),
                Map.entry(CUgraphExec.class, new CUgraphExec()));
        return usual.get(type);
    }

    // ---- state after a refusal ----

    @Spec("2.8")
    @Test
    @SuppressWarnings("NullAway") // the subject of this test
    void nothingIsLostOrChangedByARefusal() {
        BrickProfiler profiler = BrickProfiler.enabled();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        profiler.setBottleneck("RmsNorm", Bottleneck.MEMORY);
        List<ThrowingCallable> calls = List.of(
                () -> profiler.startBrick((BrickId) null),
                () -> profiler.startBrick((String) null),
                () -> profiler.lap(timer, 1, (BrickId) null),
                () -> profiler.record((BrickId) null, 1, 1),
                () -> profiler.recordDeferred((BrickId) null, 1, 1),
                () -> profiler.setBottleneck("RmsNorm", null),
                () -> profiler.setBottleneck("never seen", null),
                () -> profiler.setSyncMode(null),
                () -> profiler.time(BrickId.RMS_NORM, 1, (Runnable) null),
                () -> profiler.tiles().record(null, 0, 0, 1, 1, 1));
        calls.forEach(call ->
                assertThatThrownBy(call).isInstanceOfAny(NullPointerException.class, IllegalArgumentException.class));
        profiler.stopBrick(timer, 1);

        assertThat(profiler.syncMode()).isEqualTo(SyncMode.DEFERRED);
        assertThat(profiler.hasPending()).isFalse();
        assertThat(profiler.brickNames()).containsExactly("RmsNorm");
        assertThat(profiler.brickStats(BrickId.RMS_NORM).bottleneck()).isEqualTo(Bottleneck.MEMORY);
        assertThat(TextReport.render(profiler.snapshot())).contains("memory");
    }
}
