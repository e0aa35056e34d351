package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.TraceRecorder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class SettingActionTest {

    private static final SpanSink SINK = SpanSinks.of(new TraceRecorder());

    /** Makes the sink for one file, and refuses any other. */
    private static SettingAction action(String key, String file) {
        return new SettingAction(key, SettingAction.LINES) {
            @Override
            protected SpanSink open(@Nullable String value, boolean lines) {
                if (value == null ? lines : value.equals(file)) {
                    return SINK;
                }
                throw new IllegalArgumentException("no such format: " + value);
            }
        };
    }

    @Test
    void theActionOfTheSettingMakesTheSink() {
        assertThat(SettingAction.open(
                        "a.pftrace",
                        false,
                        List.of(action(SettingAction.EXPORT, "other"), action(SettingAction.TRACE, "a.pftrace"))))
                .isSameAs(SINK);
    }

    @Test
    void nothingIsTracedWithoutASetting() {
        assertThat(SettingAction.open(null, false, List.of(action(SettingAction.TRACE, ""))))
                .isNull();
        assertThat(SettingAction.open("", false, List.of(action(SettingAction.TRACE, ""))))
                .isNull();
        assertThat(SettingAction.sink()).isNull();
    }

    @Spec("13.1")
    @Test
    void aFileThatCannotBeWrittenIsLoggedAndStopsNobody() {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(SettingAction.open("a.txt", false, List.of(action(SettingAction.TRACE, "a.json"))))
                    .isNull();

            assertThat(log.linesWith("no such format")).isEqualTo(1);
        }
    }

    @Test
    void linesAreKeptAlthoughTheFileCannotBeWritten() {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(SettingAction.open("a.txt", true, List.of(action(SettingAction.TRACE, "a.json"))))
                    .isSameAs(SINK);

            assertThat(log.linesWith("no such format")).isEqualTo(1);
        }
    }

    @Test
    void theLibraryAloneNamesTheArtifactOfLines() {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(SettingAction.open(null, true, List.of())).isNull();

            assertThat(log.linesWith("brick.profiler.lines=on has no effect: the artifact"
                            + " org.brickprofiler:brick-profiler-timeline is neither on the class path"))
                    .isEqualTo(1);
        }
    }

    @Spec("2.16")
    @Test
    void aSettingWithoutAnActionIsLoggedWithItsArtifact() {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(SettingAction.open("a.json", false, List.of())).isNull();

            assertThat(log.linesWith("brick.profiler.trace=a.json has no effect: the artifact"
                            + " org.brickprofiler:brick-profiler-timeline is neither on the class path"))
                    .isEqualTo(1);
        }
    }

    @Test
    void aValueThatIsNoPathIsLogged() {
        SettingAction paths = new SettingAction(SettingAction.TRACE) {
            @Override
            protected SpanSink open(@Nullable String value, boolean lines) {
                throw new InvalidPathException(String.valueOf(value), "NUL");
            }
        };
        try (CapturedLog log = new CapturedLog()) {
            assertThat(SettingAction.open("x", false, List.of(paths))).isNull();

            assertThat(log.linesWith("it is not a path")).isEqualTo(1);
        }
    }

    /** The agent's jar has one list of its own, since lists of the same name would replace each other there. */
    @Test
    void theAgentListsTheActionsOfAllProjects() throws Exception {
        Path list = Path.of("src", "main", "resources", "META-INF", "services", SettingAction.class.getName());
        Set<String> all = new TreeSet<>();
        for (Path project : SourceTree.projects()) {
            if (!project.endsWith("agent") && Files.exists(project.resolve(list))) {
                all.addAll(Files.readAllLines(project.resolve(list)));
            }
        }
        assertThat(Files.readAllLines(SourceTree.path("agent").resolve(list))).containsExactlyInAnyOrderElementsOf(all);
    }
}
