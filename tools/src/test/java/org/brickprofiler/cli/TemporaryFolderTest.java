package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line without a folder for temporary files. */
final class TemporaryFolderTest {

    @TempDir
    private Path folder;

    @Test
    void aDatabaseIsRefusedInOneLineWithTheReason() throws Exception {
        Path file = folder.resolve("a.sqlite");
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = database.createStatement()) {
            statement.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER)");
        }
        ProcessResult process = ChildProcess.java(Brick.class)
                .jvmOptions(List.of("-Djava.io.tmpdir=" + folder.resolve("missing")))
                .arguments(List.of("report", file.toString()))
                .run();

        assertThat(process.exitCode()).isEqualTo(2);
        // Later virtual machines warn of such a folder themselves.
        assertThat(process.err().lines().filter(line -> !line.startsWith("WARNING: java.io.tmpdir ")))
                .singleElement()
                .asString()
                .startsWith("brick: cannot read " + file + ": SQLite's library must be unpacked: cannot write a"
                        + " temporary file in the folder ")
                .contains("it does not exist; set another with -Djava.io.tmpdir=FOLDER");
    }
}
