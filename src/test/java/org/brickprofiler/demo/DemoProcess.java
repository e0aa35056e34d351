package org.brickprofiler.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One run of the demonstration as a process of its own, with pipes for its output.
 *
 * @param exitCode what the process ended with
 * @param out what it wrote to the standard output
 * @param err what it wrote to the standard error
 */
record DemoProcess(int exitCode, String out, String err) {

    /** A model of no size. */
    static final List<String> TINY = List.of(
            "--layers", "3", "--dim", "32", "--heads", "4", "--kv-heads", "2", "--ffn", "48", "--vocab", "100",
            "--tokens", "7", "--warmup", "2", "--threads", "2");

    /** Runs it with the Java and the class path of the test, and waits for its end. */
    static DemoProcess run(Path workingFolder, List<String> arguments) throws IOException, InterruptedException {
        return run(workingFolder, List.of(), List.of(), arguments);
    }

    /**
     * Runs it through another command.
     *
     * @param launcher the command that gets the command line of the demonstration as its last arguments
     * @param jvmOptions options of the virtual machine
     */
    static DemoProcess run(Path workingFolder, List<String> launcher, List<String> jvmOptions, List<String> arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(launcher);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Its counters would be a file, and a launcher may limit files.
        command.add("-XX:-UsePerfData");
        command.add("-Dfile.encoding=UTF-8");
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Demo.class.getName()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).directory(workingFolder.toFile());
        // With these a virtual machine greets on the standard error.
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            CompletableFuture<String> err = CompletableFuture.supplyAsync(() -> text(process.getErrorStream()));
            String out = text(process.getInputStream());
            return new DemoProcess(process.waitFor(), out, err.join());
        } finally {
            process.destroyForcibly();
        }
    }

    private static String text(InputStream stream) {
        try {
            return new String(stream.readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
