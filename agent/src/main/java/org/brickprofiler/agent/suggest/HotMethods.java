package org.brickprofiler.agent.suggest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;
import org.brickprofiler.internal.io.InputFile;

/**
 * The methods in which a recording of the flight recorder has samples, their callers included. Immutable.
 *
 * @param samples the samples of each method, by class, name and descriptor
 * @param total the number of all samples of Java code, and of native methods outside the JDK
 * @param classPath the class path of the recorded virtual machine, with its module path
 */
record HotMethods(Map<String, Integer> samples, int total, String classPath) {

    private static final String SAMPLE = "jdk.ExecutionSample";
    private static final String NATIVE_SAMPLE = "jdk.NativeMethodSample";
    private static final String PROPERTY = "jdk.InitialSystemProperty";

    /** Settings of the flight recorder: samples of Java code, and the class path. */
    static final String SETTINGS = """
            <?xml version="1.0" encoding="UTF-8"?>
            <configuration version="2.0" label="Samples" description="Samples of Java code" provider="brick suggest">
              <event name="jdk.ExecutionSample">
                <setting name="enabled">true</setting>
                <setting name="period">10 ms</setting>
              </event>
              <event name="jdk.NativeMethodSample">
                <setting name="enabled">true</setting>
                <setting name="period">10 ms</setting>
              </event>
              <event name="jdk.InitialSystemProperty">
                <setting name="enabled">true</setting>
                <setting name="period">beginChunk</setting>
              </event>
            </configuration>
            """;

    HotMethods {
        samples = Map.copyOf(samples);
    }

    /**
     * Reads a recording.
     *
     * @param recording the file
     * @throws IOException when it cannot be read, or is damaged; the message names it
     */
    static HotMethods read(Path recording) throws IOException {
        return InputFile.guarded(recording.toString(), () -> readAll(recording));
    }

    private static HotMethods readAll(Path recording) throws IOException {
        Map<String, Integer> samples = new HashMap<>();
        int total = 0;
        Map<String, String> properties = new HashMap<>();
        try (RecordingFile file = new RecordingFile(recording)) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                switch (event.getEventType().getName()) {
                    case SAMPLE -> {
                        total++;
                        methods(event).forEach(method -> samples.merge(method, 1, Integer::sum));
                    }
                    case NATIVE_SAMPLE -> {
                        if (isInNativeOfEngine(event)) {
                            total++;
                            methods(event).forEach(method -> samples.merge(method, 1, Integer::sum));
                        }
                    }
                    case PROPERTY -> properties.put(event.getString("key"), event.getString("value"));
                    default -> {}
                }
            }
        }
        return new HotMethods(samples, total, classPath(properties));
    }

    /** Returns whether a sample is in a native method outside the JDK, whose native methods mostly wait. */
    private static boolean isInNativeOfEngine(RecordedEvent event) {
        RecordedStackTrace trace = event.getStackTrace();
        if (trace == null || trace.getFrames().isEmpty()) {
            return false;
        }
        RecordedMethod method = trace.getFrames().get(0).getMethod();
        return method != null
                && method.getType() != null
                && !CallGraph.isOfJdk(method.getType().getName().replace('.', '/'));
    }

    private static Set<String> methods(RecordedEvent event) {
        Set<String> methods = new HashSet<>();
        if (event.getStackTrace() != null) {
            for (RecordedFrame frame : event.getStackTrace().getFrames()) {
                RecordedMethod method = frame.getMethod();
                if (frame.isJavaFrame() && method != null && method.getType() != null) {
                    methods.add(key(
                            method.getType().getName().replace('.', '/'), method.getName() + method.getDescriptor()));
                }
            }
        }
        return methods;
    }

    private static String classPath(Map<String, String> properties) {
        String path = properties.getOrDefault("java.class.path", "");
        String modules = properties.getOrDefault("jdk.module.path", "");
        return path.isEmpty() || modules.isEmpty() ? path + modules : path + java.io.File.pathSeparator + modules;
    }

    private static String key(String className, String method) {
        return className + '.' + method;
    }

    /**
     * Returns the samples of a method and of what it calls.
     *
     * @param className its class, with slashes
     * @param method its name and descriptor
     */
    int samples(String className, String method) {
        return samples.getOrDefault(key(className, method), 0);
    }
}
