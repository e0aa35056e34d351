package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A command with too little memory, or without room for its temporary file. */
@Spec("15.2")
@Timeout(110)
class ResourcesIT {

    /** More events than stay in memory. */
    private static final Path TRACE = Cli.TRACES.resolve("kineto-training-step.json.gz");

    @TempDir
    Path folder;

    private Cli convert(List<String> launcher, String... jvmOptions) throws IOException {
        List<String> options = new ArrayList<>(List.of("-XX:-UsePerfData"));
        options.addAll(List.of(jvmOptions));
        ProcessResult result = ChildProcess.java(Brick.class)
                .through(launcher)
                .jvmOptions(options)
                .arguments(List.of(
                        "convert",
                        TRACE.toString(),
                        folder.resolve("out.pftrace").toString()))
                .run();
        assertThat(folder).isEmptyDirectory();
        // The virtual machine of JDK 25 itself warns of a missing folder.
        return new Cli(
                result.exitCode(), result.out(), result.err().replaceFirst("^WARNING: java.io.tmpdir .*\\R", ""));
    }

    @Test
    void tooLittleMemoryIsSaidInOneLine() throws IOException {
        convert(List.of(), "-Xmx12m")
                .assertRefused("the memory of this Java virtual machine, 12 MB, is too small", "-Xmx1g");
    }

    @Test
    void aMissingTemporaryFolderIsNamed() throws IOException {
        Path missing = folder.resolve("missing");

        convert(List.of(), "-Djava.io.tmpdir=" + missing)
                .assertRefused("cannot write the temporary file in the folder " + missing, "it does not exist");
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs a shell that limits the size of files")
    void aTemporaryFileThatFindsNoRoomIsNamed() throws IOException {
        convert(List.of("bash", "-c", "ulimit -f 64; exec \"$@\"", "bash"))
                .assertRefused("cannot write the temporary file in the folder ", "File too large");
    }
}
