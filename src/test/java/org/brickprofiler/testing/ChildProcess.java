package org.brickprofiler.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Starts a process for a test: a virtual machine or another program. Lists that are given more than once add up. One
 * thread.
 *
 * <p>The process has the test's environment, less the variables that give options to a virtual machine, and an empty
 * standard input. A virtual machine leaves out its second compiler, which compiles too late to be of use to a test.
 */
public final class ChildProcess {

    /** With these a virtual machine greets on the standard error, or takes options of the test's own. */
    private static final List<String> JVM_VARIABLES = List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

    /** The first option of a virtual machine, so that others can change it. */
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

    /** The Java and the class path of the test. */
    public static ChildProcess java(Class<?> main) {
        return java(main, System.getProperty("java.class.path"));
    }

    /** The Java of the test with another class path. */
    public static ChildProcess java(Class<?> main, String classPath) {
        return virtualMachine(List.of("-cp", classPath, main.getName()));
    }

    /** The Java of the test with a runnable jar. */
    public static ChildProcess jar(Path jar) {
        return virtualMachine(List.of("-jar", jar.toString()));
    }

    /** Any other program. */
    public static ChildProcess of(String program) {
        return new ChildProcess(program, List.of());
    }

    /** The Java of the test; the arguments have its class path and its main class. */
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

    /** Starts it through a command that gets the whole command line as its last arguments. */
    public ChildProcess through(List<String> command) {
        launcher.addAll(command);
        return this;
    }

    /** Options of the virtual machine. */
    public ChildProcess jvmOptions(List<String> options) {
        jvmOptions.addAll(options);
        return this;
    }

    /** Adds arguments of the program itself. */
    public ChildProcess arguments(List<String> more) {
        arguments.addAll(more);
        return this;
    }

    /** Variables of the environment. */
    public ChildProcess environment(Map<String, String> variables) {
        builder.environment().putAll(variables);
        return this;
    }

    /** Takes a variable out of the environment. */
    public ChildProcess without(String variable) {
        builder.environment().remove(variable);
        return this;
    }

    /** The working folder, in place of the test's own. */
    public ChildProcess in(Path folder) {
        builder.directory(folder.toFile());
        return this;
    }

    /** How long the process may take from its start; give it less than the test has. */
    public ChildProcess limit(Duration longest) {
        limit = longest;
        return this;
    }

    /**
     * Starts the process and waits for its end, as {@link RunningProcess#result} does.
     *
     * @throws IOException if it cannot be started, as if there is no such program
     */
    public ProcessResult run() throws IOException {
        return start().result();
    }

    /**
     * Starts the process.
     *
     * @throws IOException if it cannot be started, as if there is no such program
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
