package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.UserClassPath;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library's jar as an application finds it: on the class path, and as a module. */
class LibraryJarIT {

    private static final Path LIBRARY = UserClassPath.entry("brick-profiler");

    private static final String PROGRAM = """
            package app;

            import org.brickprofiler.BrickId;
            import org.brickprofiler.BrickProfiler;
            import org.brickprofiler.report.TextReport;

            public final class Main {
                public static void main(String[] args) {
                    BrickProfiler profiler = BrickProfiler.enabled();
                    profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
                    profiler.record("custom", 1_000, 1);
                    profiler.graph().enable();
                    profiler.stopBrick(profiler.startBrick("graphed"), 1);
                    profiler.endPass();
                    System.out.println(TextReport.render(profiler.snapshot()));
                    System.out.println("module " + BrickProfiler.class.getModule().getName());
                }
            }
            """;

    @TempDir
    private Path folder;

    private String libraries = "";

    /**
     * Compiles an application whose warnings are errors, without the annotations that the library was compiled with.
     */
    @BeforeEach
    void compile() throws IOException {
        libraries = UserClassPath.of("brick-profiler-timeline");
        Path main = folder.resolve("src/app/Main.java");
        Path module = folder.resolve("src/module-info.java");
        Files.createDirectories(main.getParent());
        Files.writeString(main, PROGRAM);
        Files.writeString(module, "module app { requires org.brickprofiler; requires org.brickprofiler.timeline; }");
        int exit = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-Xlint:all",
                        "-Werror",
                        "--module-path",
                        libraries,
                        "-d",
                        folder.resolve("classes").toString(),
                        main.toString(),
                        module.toString());
        assertThat(exit).as("compiling a module that requires the library").isZero();
    }

    private ProcessResult run(String... options) throws IOException {
        Path trace = folder.resolve("t.json");
        List<String> all = new ArrayList<>(List.of("-Dbrick.profiler.trace=" + trace));
        all.addAll(List.of(options));
        ProcessResult result = ChildProcess.java().arguments(all).run().assertSucceeded();
        assertThat(result.output()).contains("RmsNorm").contains("custom").contains("graphed");
        assertThat(trace).as("the sink that a property asks for").content().contains("RmsNorm");
        return result;
    }

    @Spec("15.5")
    @Test
    void runsOnTheClassPath() throws IOException {
        assertThat(run("-cp", libraries + File.pathSeparator + folder.resolve("classes"), "app.Main")
                        .output())
                .contains("module null");
    }

    @Spec("15.5")
    @Test
    void runsAsAModule() throws IOException {
        String modules = libraries + File.pathSeparator + folder.resolve("classes");
        assertThat(run("--module-path", modules, "-m", "app/app.Main").output()).contains("module org.brickprofiler");
    }

    @Spec("15.5")
    @Test
    void exportsNothingOfTheEngine() {
        ModuleReference found =
                ModuleFinder.of(LIBRARY).find("org.brickprofiler").orElseThrow();
        List<String> exported = found.descriptor().exports().stream()
                .filter(exports -> !exports.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .toList();
        assertThat(exported)
                .contains("org.brickprofiler", "org.brickprofiler.report")
                .noneMatch(name -> name.contains("internal"));
        assertThat(found.descriptor().isAutomatic()).isFalse();
        assertThat(found.descriptor().packages())
                .as("packages of the library's jar")
                .doesNotContain(
                        "org.brickprofiler.agent",
                        "org.brickprofiler.cli",
                        "org.brickprofiler.demo",
                        "org.brickprofiler.fleet",
                        "org.brickprofiler.trace.read");
    }
}
