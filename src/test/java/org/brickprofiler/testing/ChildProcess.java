package org.brickprofiler.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Starts a process for a test: a virtual machine or another program. Repeated calls with lists add to the earlier
 * lists. Not thread-safe.
 *
 * <p>The process has the test's environment without the variables that give options to a virtual machine, and an empty
 * standard input. A virtual machine does not use its optimizing compiler C2, which compiles too late to be of use to a
 * test.
 */
public final class ChildProcess {

    /**
     * With these variables, a virtual machine prints a message to the standard error, or has the options of the test's
     * own.
     */
    private static final List<String> JVM_VARIABLES = List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

    /** Limits a virtual machine to the compiler C1. It is the first option, so that later ones can override it. */
    public static final String ONE_COMPILER = "-XX:TieredStopAtLevel=1";

    /** Below the two minutes of a test, whose timeout would not show the output of the process. */
    private static final Duration USUAL_LIMIT = Duration.ofSeconds(100);

    private final List<String> launcher = new ArrayList<>();
    private final String program;
    private final List<String> jvmOptions = new ArrayList<>();
    private final List<String> started;
    private final List<String> arguments = new ArrayList<>();
    private final ProcessBuilder builder = new ProcessBuilder();
    private Duration limit = USUAL_LIMIT;

    private ChildProcess(String program, List<String> started) {
        this.program = program;
        this.started = started;
        builder.environment().keySet().removeAll(JVM_VARIABLES);
    }

    /** Returns a process of the test's Java with the test's class path. */
    public static ChildProcess java(Class<?> main) {
        return java(main, System.getProperty("java.class.path"));
    }

    /** Returns a process of the test's Java with another class path. */
    public static ChildProcess java(Class<?> main, String classPath) {
        return virtualMachine(List.of("-cp", classPath, main.getName()));
    }

    /** Returns a process of the test's Java with a runnable jar. */
    public static ChildProcess jar(Path jar) {
        return virtualMachine(List.of("-jar", jar.toString()));
    }

    /** Returns a process of any other program. */
    public static ChildProcess of(String program) {
        return new ChildProcess(program, List.of());
    }

    /** Returns a process of the test's Java whose class path and main class are in the arguments. */
    public static ChildProcess java() {
        return virtualMachine(List.of());
    }

    private static ChildProcess virtualMachine(List<String> started) {
        return new ChildProcess(javaProgram().toString(), started).jvmOptions(List.of(ONE_COMPILER));
    }

    /** Returns the Java of the test, for command lines. */
    public static Path javaProgram() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    /** Starts the process through a command, which gets the whole command line as its last arguments. */
    public ChildProcess through(List<String> command) {
        launcher.addAll(command);
        return this;
    }

    /** Adds options of the virtual machine. */
    public ChildProcess jvmOptions(List<String> options) {
        jvmOptions.addAll(options);
        return this;
    }

    /** Adds arguments of the program itself. */
    public ChildProcess arguments(List<String> more) {
        arguments.addAll(more);
        return this;
    }

    /** Adds variables to the environment. */
    public ChildProcess environment(Map<String, String> variables) {
        builder.environment().putAll(variables);
        return this;
    }

    /** Removes a variable from the environment. */
    public ChildProcess without(String variable) {
        builder.environment().remove(variable);
        return this;
    }

    /** Sets the working folder; the default is the test's own. */
    public ChildProcess in(Path folder) {
        builder.directory(folder.toFile());
        return this;
    }

    /**
     * Sets the timeout of the process, which counts from its start. It should be shorter than the timeout of the test.
     */
    public ChildProcess limit(Duration longest) {
        limit = longest;
        return this;
    }

    /**
     * Starts the process and waits for its end, as {@link RunningProcess#result} does.
     *
     * @throws IOException if it cannot be started, for example because there is no such program
     */
    public ProcessResult run() throws IOException {
        return start().result();
    }

    /**
     * Starts the process.
     *
     * @throws IOException if it cannot be started, for example because there is no such program
     */
    public RunningProcess start() throws IOException {
        List<String> command = new ArrayList<>(launcher);
        command.add(program);
        command.addAll(jvmOptions);
        command.addAll(started);
        command.addAll(arguments);
        return RunningProcess.start(builder.command(command), limit);
    }
}
