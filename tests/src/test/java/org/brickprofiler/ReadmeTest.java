package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.UserClassPath;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The unchanged examples of README.md are compiled, and have the described effects. */
public class ReadmeTest {

    private static final Pattern EXAMPLE = Pattern.compile("```java\\R(.*?)```", Pattern.DOTALL);

    @TempDir
    Path folder;

    /** The names that the shorter examples assume. */
    public abstract static class Surroundings {

        /** A queue that records its calls. */
        public static final class Queue {

            private final List<String> done = new ArrayList<>();

            public void launch(String work) {
                done.add(work);
            }

            public void synchronize() {
                done.add("synchronize");
            }
        }

        protected final int tokens = 16;
        protected final Queue queue = new Queue();
        protected final String attention = "attention";
        protected final String experts = "experts";
        protected final CUcontext context = new CUcontext();
        protected final CUstream stream = new CUstream();

        /** Runs the example, and returns the profiler that it made. */
        public abstract BrickProfiler run();
    }

    /** Returns the code of the only example that contains a word. */
    private static String example(String word) throws Exception {
        List<String> examples = EXAMPLE.matcher(Files.readString(SourceTree.path("README.md")))
                .results()
                .map(match -> match.group(1))
                .filter(example -> example.contains(word))
                .toList();
        assertThat(examples).as("examples with " + word).hasSize(1);
        return examples.get(0);
    }

    /** Compiles the example as the body of a method, and runs it. */
    private BrickProfiler run(String example, Consumer<Surroundings> preparation) throws Exception {
        Path source = Files.writeString(folder.resolve("Example.java"), """
                import org.brickprofiler.*;
                import org.brickprofiler.device.cuda.*;
                import org.brickprofiler.report.*;

                public class Example extends ReadmeTest.Surroundings {
                    @Override
                    public BrickProfiler run() {
                %s
                        return profiler;
                    }
                }
                """.formatted(example));
        compile(source);
        URL[] classes = {folder.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(classes, getClass().getClassLoader())) {
            Surroundings compiled =
                    (Surroundings) loader.loadClass("Example").getConstructor().newInstance();
            preparation.accept(compiled);
            return compiled.run();
        }
    }

    private void compile(Path source) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> messages = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(messages, null, StandardCharsets.UTF_8)) {
            boolean compiled = compiler.getTask(
                            null,
                            files,
                            messages,
                            List.of(
                                    "-proc:none",
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    "-d",
                                    folder.toString()),
                            null,
                            files.getJavaFileObjects(source))
                    .call();
            List<Diagnostic<? extends JavaFileObject>> errors = messages.getDiagnostics().stream()
                    .filter(message -> message.getKind() == Diagnostic.Kind.ERROR)
                    .toList();
            assertThat(errors).isEmpty();
            assertThat(compiled).isTrue();
        }
    }

    private static Map<String, Long> counts(BrickProfiler profiler) {
        return profiler.allBrickStats().stream()
                .collect(Collectors.toMap(BrickStats::name, BrickStats::count, Long::sum, TreeMap::new));
    }

    @Test
    void theFirstExampleIsAProgramThatNeedsTheOneDependency() throws Exception {
        Files.writeString(folder.resolve("Engine.java"), example("class Engine"));

        ProcessResult result = ChildProcess.java()
                .arguments(List.of("-cp", UserClassPath.of(), "Engine.java"))
                .in(folder)
                .run();

        assertThat(result.exitCode()).as(result.output()).isZero();
        assertThat(result.output())
                .containsPattern("RmsNorm +Norm +400 ")
                .containsPattern("QkvProjection +Attention +400 ")
                .containsPattern("my fused kernel +FFN +400 ")
                .contains("FFN", "Time to first token");
        assertThat(folder.resolve("report.html")).content().contains("my fused kernel");
    }

    @Test
    void theDeferredExampleGivesEachItsPartOfTheWhole() throws Exception {
        List<Surroundings.Queue> queues = new ArrayList<>();
        BrickProfiler profiler = run(example("recordDeferred"), given -> queues.add(given.queue));

        assertThat(queues.get(0).done).containsExactly("attention", "experts", "synchronize");
        assertThat(counts(profiler)).containsExactly(Map.entry("FusedAttention", 1L), Map.entry("MoeExpert", 1L));
        assertThat(profiler.hasPending()).isFalse();
        assertThat(profiler.totalNs()).isPositive().isLessThanOrEqualTo(profiler.elapsedNs());
    }

    @Test
    void theExampleOfAGpuGivesBricksTheDevicesTime() throws Exception {
        SimulatedCuda.start();
        assertThat(JCudaDriver.cuInit(0)).isEqualTo(CUresult.CUDA_SUCCESS);
        List<CUstream> streams = new ArrayList<>();
        BrickProfiler profiler = run(example("CudaStream.on("), given -> {
            JCudaDriver.cuCtxCreate(given.context, 0, new CUdevice());
            JCudaDriver.cuStreamCreate(given.stream, 0);
            streams.add(given.stream);
        });

        long timer = profiler.startBrick(BrickId.RMS_NORM);
        SimulatedCuda.setCopyNs(5_000);
        JCudaDriver.cuMemcpyDtoDAsync(new CUdeviceptr(), new CUdeviceptr(), 0, streams.get(0));
        profiler.stopBrick(timer, 1);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(5_000);
    }

    @Test
    void theCoordinatesAreThoseOfThePom() throws Exception {
        String project = Files.readString(SourceTree.path("pom.xml"));
        String group = first("groupId", project);
        String version = first("revision", Files.readString(SourceTree.path("build", "parent.xml")));
        String artifact = SourceTree.artifact(SourceTree.path(""));

        assertThat(Files.readString(SourceTree.path("README.md")).lines().map(String::strip))
                .contains(
                        "<groupId>" + group + "</groupId>",
                        "<artifactId>" + artifact + "</artifactId>",
                        "<version>" + version + "</version>",
                        "dependencies { implementation(\"" + group + ":" + artifact + ":" + version + "\") }");
    }

    /** Returns the first value of a tag. */
    private static String first(String tag, String xml) {
        Matcher value = Pattern.compile("<" + tag + ">(.*?)</" + tag + ">").matcher(xml);
        assertThat(value.find()).as(tag).isTrue();
        return value.group(1);
    }

    @Test
    void theArtifactsAreThoseOfTheProjects() throws Exception {
        Set<String> built = Pattern.compile("<module>(.*?)</module>")
                .matcher(Files.readString(SourceTree.path("build", "pom.xml")))
                .results()
                .map(module -> SourceTree.artifact(SourceTree.path("build", module.group(1))))
                .collect(Collectors.toCollection(TreeSet::new));
        built.remove("brick-profiler-tests");

        Set<String> named = Pattern.compile("(?m)^\\| (`brick-profiler.*?) \\|")
                .matcher(Files.readString(SourceTree.path("README.md")))
                .results()
                .flatMap(line ->
                        Pattern.compile("[\\w-]+").matcher(line.group(1)).results())
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(named).isEqualTo(built);
    }

    @Test
    void noExampleIsLeftOut() throws Exception {
        Matcher examples = EXAMPLE.matcher(Files.readString(SourceTree.path("README.md")));
        assertThat(examples.results()).hasSize(3);
    }
}
