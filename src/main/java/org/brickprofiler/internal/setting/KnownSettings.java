package org.brickprofiler.internal.setting;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/**
 * The settings that this version reads, and the artifact that acts on each. Finds settings without effect. No lambdas
 * here: the first lambda takes longer than the rest of the start. Stateless; any thread.
 */
public final class KnownSettings {

    private static final String LIBRARY = "brick-profiler";

    /**
     * An artifact and the settings that it acts on.
     *
     * @param name the artifact
     * @param probe a class of it; null if {@code SettingAction} reports that its actions are missing
     * @param keys the settings that are a property or a variable
     * @param properties the settings that are a property only
     */
    private record Artifact(String name, @Nullable String probe, List<String> keys, List<String> properties) {}

    private static final List<Artifact> ARTIFACTS = List.of(
            new Artifact(
                    LIBRARY,
                    null,
                    List.of(
                            "commit",
                            "device",
                            "device_sampling",
                            "export",
                            "export_every",
                            "export_mb",
                            "host",
                            "kernels",
                            "local_rank",
                            "model",
                            "out",
                            "percentiles",
                            "phase",
                            "precision",
                            "rank",
                            "run_id",
                            "world_size"),
                    List.of("out.owner")),
            new Artifact(LIBRARY + "-timeline", null, List.of("trace", "lines"), List.of()),
            new Artifact(
                    LIBRARY + "-gpu",
                    "org.brickprofiler.device.cuda.CudaStream",
                    List.of("cuda.binding"),
                    List.of("metal.library", "opencl.library")),
            new Artifact(LIBRARY + "-gpu", null, List.of("nvtx"), List.of()),
            new Artifact(LIBRARY + "-agent", "org.brickprofiler.agent.Premain", List.of("shortest_ns"), List.of()));

    private KnownSettings() {}

    /**
     * Returns the artifact that acts on a setting.
     *
     * @param key the end of its names, such as {@code export_every}
     * @return the name of the artifact
     * @throws IllegalArgumentException when no setting has this key
     */
    public static String artifact(String key) {
        for (Artifact each : ARTIFACTS) {
            if (each.keys.contains(key) || each.properties.contains(key)) {
                return each.name;
            }
        }
        throw new IllegalArgumentException("no setting " + Settings.property(key));
    }

    /**
     * Logs a warning for each setting of this process that has no effect, because it is unknown or its artifact is
     * missing.
     */
    public static void warn() {
        try {
            for (String fault : faults(System.getProperties(), System.getenv(), KnownSettings.class.getClassLoader())) {
                Log.of(KnownSettings.class).warn("{}", fault);
            }
        } catch (SecurityException forbidden) {
            // The settings that the process may not read have no effect by its own choice.
        }
    }

    /**
     * Returns a sentence about each setting without effect.
     *
     * @param properties the system properties
     * @param variables the environment variables
     * @param loader finds the classes of the artifacts
     */
    static List<String> faults(Map<?, ?> properties, Map<?, ?> variables, @Nullable ClassLoader loader) {
        List<String> faults = new ArrayList<>();
        addFaults(properties, Settings.PROPERTY, loader, faults);
        addFaults(variables, Settings.VARIABLE, loader, faults);
        return faults;
    }

    private static void addFaults(
            Map<?, ?> settings, String prefix, @Nullable ClassLoader loader, List<String> faults) {
        for (Map.Entry<?, ?> each : settings.entrySet()) {
            String name = each.getKey().toString();
            String value = each.getValue().toString();
            if (name.startsWith(prefix) && !value.isBlank()) {
                String reason = reason(name, prefix, loader);
                if (reason != null) {
                    faults.add("the setting " + name + "=" + value + " has no effect: " + reason);
                }
            }
        }
    }

    /** Returns why a setting has no effect; null if it has one, or if its action reports that itself. */
    private static @Nullable String reason(String name, String prefix, @Nullable ClassLoader loader) {
        boolean isProperty = prefix.equals(Settings.PROPERTY);
        StringBuilder known = new StringBuilder();
        for (Artifact artifact : ARTIFACTS) {
            for (String key : artifact.keys) {
                String existing = isProperty ? Settings.property(key) : Settings.variable(key);
                if (name.equals(existing)) {
                    return reasonIfMissing(artifact, loader);
                }
                known.append(known.isEmpty() ? "" : ", ").append(existing);
            }
            if (isProperty && artifact.properties.contains(name.substring(prefix.length()))) {
                return reasonIfMissing(artifact, loader);
            }
        }
        return "it is unknown. Known are " + known;
    }

    private static @Nullable String reasonIfMissing(Artifact artifact, @Nullable ClassLoader loader) {
        if (artifact.probe == null) {
            return null;
        }
        try {
            Class.forName(artifact.probe, false, loader);
            return null;
        } catch (ClassNotFoundException missing) {
            return missing(artifact.name);
        }
    }

    /**
     * Returns the reason why a setting has no effect if its artifact is missing.
     *
     * @param artifact the artifact
     * @return the reason and what to do
     */
    public static String missing(String artifact) {
        return "the artifact org.brickprofiler:" + artifact + " is neither on the class path nor on the module path:"
                + " add it";
    }
}
