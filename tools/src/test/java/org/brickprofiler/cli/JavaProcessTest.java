package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Processes as Linux describes them in a folder. */
@EnabledOnOs(OS.LINUX)
class JavaProcessTest {

    @TempDir
    private Path proc;

    @BeforeEach
    void describe() throws IOException {
        process("self", "mnt:[1]");
        process("7", "mnt:[1]");
        process("8", "mnt:[2]");
    }

    private void process(String id, String files) throws IOException {
        Files.createDirectories(proc.resolve(id).resolve("ns"));
        Files.createDirectories(proc.resolve(id).resolve("root").resolve("tmp"));
        Files.createSymbolicLink(proc.resolve(id).resolve("ns").resolve("mnt"), Path.of(files));
    }

    @Test
    void seesTheFilesOfAProcess() throws IOException {
        JavaProcess beside = JavaProcess.of("7", proc);
        assertThat(beside.isInContainer()).isFalse();
        assertThat(beside.has(proc)).isTrue();
        JavaProcess inside = JavaProcess.of("8", proc);
        assertThat(inside.isInContainer()).isTrue();
        assertThat(inside.has(Path.of("/tmp/agent.jar"))).isFalse();
        Files.createFile(proc.resolve("8/root/tmp/agent.jar"));
        assertThat(inside.has(Path.of("/tmp/agent.jar"))).isTrue();
        assertThat(inside.inWords())
                .isEqualTo("process 8, which runs as uid " + inside.uid().orElseThrow() + " in a container,");
        assertThat(JavaProcess.of("9", proc))
                .isEqualTo(new JavaProcess("9", Path.of("/"), inside.uid().filter(x -> false)));
    }

    @Test
    void namesTheRecipeWhereTheJarIsMissing() throws IOException {
        JavaProcess inside = JavaProcess.of("8", proc);
        assertThatThrownBy(() -> AttachCommand.requireJar(inside, Path.of("/opt/agent.jar")))
                .hasMessage(inside.inWords()
                        + " has no /opt/agent.jar, and needs the agent's jar there, readable for its user: cp"
                        + " /opt/agent.jar " + proc.resolve("8/root/tmp")
                        + "/ && brick attach 8 --agent /tmp/agent.jar");
        assertThatThrownBy(() -> AttachCommand.requireJar(JavaProcess.of("7", proc), Path.of("/opt/agent.jar")))
                .hasMessage("there is no jar of the agent at /opt/agent.jar");
    }

    /** Only the superuser can give a folder to another user. */
    @Test
    void refusesTheProcessOfAnotherUser() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "needs the superuser");
        Files.setAttribute(proc.resolve("self"), "unix:uid", 1_234);
        Files.setAttribute(proc.resolve("7"), "unix:uid", 4_321);
        assertThatThrownBy(() -> JavaProcess.of("7", proc))
                .hasMessage(
                        "process 7 runs as uid 4321, and this command as uid 1234, which may not attach to it: run brick"
                                + " as uid 4321 or as root");
    }
}
