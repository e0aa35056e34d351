package org.brickprofiler.agent.suggest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Finding the agent's jar from the folder of the command line's jar. */
class SuggestionRunsTest {

    @TempDir
    Path root;

    private Path commandLine;
    private Path built;

    @BeforeEach
    void build() throws IOException {
        commandLine = Files.createDirectories(root.resolve("tools").resolve("target"));
        Files.createFile(commandLine.resolve("brick.jar"));
        built = Files.createDirectories(root.resolve("agent").resolve("target"));
        Files.createFile(built.resolve("brick-profiler-agent-1-sources.jar"));
    }

    @Test
    void theAgentBesideTheCommandLineIsTakenFirst() throws IOException {
        Files.createFile(built.resolve("brick-profiler-agent.jar"));
        assertThat(SuggestionRuns.agentIn(commandLine)).isEqualTo(built.resolve("brick-profiler-agent.jar"));

        Path beside = Files.createFile(commandLine.resolve("brick-profiler-agent.jar"));
        assertThat(SuggestionRuns.agentIn(commandLine)).isEqualTo(beside);
    }

    @Test
    void aMissingAgentHasToBeNamed() {
        assertThatThrownBy(() -> SuggestionRuns.agentIn(commandLine))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("there are 0 jars of the agent in " + commandLine)
                .hasMessageContaining("--agent");
        assertThatThrownBy(() -> SuggestionRuns.agentIn(root.resolve("agent"))).isInstanceOf(IOException.class);
    }

    @Test
    void severalAgentsAreAmbiguous() throws IOException {
        Files.createFile(commandLine.resolve("brick-profiler-1-agent.jar"));
        Files.createFile(commandLine.resolve("brick-profiler-2-agent.jar"));

        assertThatThrownBy(() -> SuggestionRuns.agentIn(commandLine)).hasMessageContaining("there are 2 jars");
    }
}
