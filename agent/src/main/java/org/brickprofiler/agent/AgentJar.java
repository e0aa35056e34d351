package org.brickprofiler.agent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.brickprofiler.agent.bridge.AgentLoader;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A step of the build, and no part of the agent: prepares the classes and the rules in the agent's jar, so that the
 * agent starts sooner. What the virtual machine would generate at the first use of a lambda expression is generated
 * here ({@link LinkedClasses}), and the shipped rules are stored in a form that needs no parser of YAML.
 */
final class AgentJar {

    private static final String FOLDER = "profiler/";
    private static final String CLASS = ".class";
    private static final String PREMAIN = "org/brickprofiler/agent/Premain" + CLASS;
    private static final String YAML = ".yaml";

    /** The most bytes by which deflating makes a class file larger. */
    private static final int MARGIN = 1_000;

    private AgentJar() {}

    /**
     * Prepares a jar, in place.
     *
     * @param args the jar
     * @throws IOException when it cannot be read or written
     */
    public static void main(String[] args) throws IOException {
        Path jar = Path.of(args[0]);
        Map<String, byte[]> files = read(jar);
        if (files.containsKey(FOLDER + AgentLoader.CLASSES)) {
            // The build has kept a jar that it had prepared before.
            return;
        }
        Map<String, byte[]> open = new LinkedHashMap<>();
        Map<String, byte[]> classes = new LinkedHashMap<>();
        Map<String, byte[]> others = new LinkedHashMap<>();
        files.forEach((name, bytes) -> {
            if (name.endsWith(CLASS)) {
                boolean isInFolder = name.startsWith(FOLDER);
                (isInFolder ? classes : open)
                        .put(name.substring(isInFolder ? FOLDER.length() : 0, name.length() - CLASS.length()), bytes);
            } else if (name.startsWith(FOLDER + "org/brickprofiler/agent/") && name.endsWith(YAML)) {
                others.put(
                        name.substring(0, name.length() - YAML.length()) + ShippedRules.ENDING,
                        ShippedRules.write(YamlNodes.parse(name, new String(bytes, StandardCharsets.UTF_8)))
                                .getBytes(StandardCharsets.UTF_8));
            } else if (!name.endsWith("/")) {
                others.put(name, bytes);
            }
        });
        LinkedClasses.of(open).forEach((name, bytes) -> others.put(name + CLASS, bytes));
        others.computeIfPresent(PREMAIN, (name, bytes) -> calledNatively(bytes));
        others.put(FOLDER + AgentLoader.CLASSES, packed(LinkedClasses.of(classes)));
        write(jar, others);
    }

    /**
     * Returns a class whose {@code premain} is flagged as of variable arity although its last parameter is no array.
     * Java 18 and later call each method by a method handle, for which they generate seven classes in 10 ms here; they
     * cannot make one of this kind, and call it natively.
     */
    private static byte[] calledNatively(byte[] premain) {
        ClassWriter writer = new ClassWriter(0);
        new ClassReader(premain)
                .accept(
                        new ClassVisitor(Opcodes.ASM9, writer) {
                            @Override
                            public MethodVisitor visitMethod(
                                    int access,
                                    String name,
                                    String descriptor,
                                    @Nullable String signature,
                                    String @Nullable [] exceptions) {
                                int flags = name.equals("premain") ? access | Opcodes.ACC_VARARGS : access;
                                return super.visitMethod(flags, name, descriptor, signature, exceptions);
                            }
                        },
                        0);
        return writer.toByteArray();
    }

    private static Map<String, byte[]> read(Path jar) throws IOException {
        Map<String, byte[]> files = new LinkedHashMap<>();
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            Enumeration<? extends ZipEntry> entries = zip.entries();
            while (entries.hasMoreElements()) {
                ZipEntry entry = entries.nextElement();
                try (InputStream file = zip.getInputStream(entry)) {
                    files.put(entry.getName(), file.readAllBytes());
                }
            }
        }
        return files;
    }

    /** Returns classes in the form that {@link AgentLoader} reads. */
    private static byte[] packed(Map<String, byte[]> classes) {
        SortedMap<Long, byte[]> byKey = new TreeMap<>();
        classes.forEach((name, bytes) -> {
            if (byKey.put(AgentLoader.key(name.replace('/', '.')), bytes) != null) {
                throw new IllegalArgumentException(name + " has the key of another class: rename it");
            }
        });
        List<Map.Entry<Long, byte[]>> byGroup = new ArrayList<>(byKey.entrySet());
        byGroup.sort(Comparator.comparingInt(each -> AgentLoader.group(each.getKey())));
        ByteBuffer index = ByteBuffer.allocate(
                        (AgentLoader.GROUPS + 1) * Integer.BYTES + byKey.size() * AgentLoader.INDEXED)
                .order(ByteOrder.LITTLE_ENDIAN);
        for (int group = 0, begin = 0; group <= AgentLoader.GROUPS; group++) {
            index.putInt(begin);
            while (begin < byGroup.size()
                    && AgentLoader.group(byGroup.get(begin).getKey()) == group) {
                begin++;
            }
        }
        ByteArrayOutputStream files = new ByteArrayOutputStream();
        for (Map.Entry<Long, byte[]> each : byGroup) {
            byte[] bytes = each.getValue();
            byte[] deflated = deflated(bytes);
            index.putLong(each.getKey())
                    .putInt(files.size())
                    .putInt(deflated.length)
                    .putInt(bytes.length);
            files.writeBytes(deflated);
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(index.array());
        all.writeBytes(files.toByteArray());
        return all.toByteArray();
    }

    private static byte[] deflated(byte[] bytes) {
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
        deflater.setInput(bytes);
        deflater.finish();
        byte[] deflated = new byte[bytes.length + MARGIN];
        int length = deflater.deflate(deflated);
        if (!deflater.finished()) {
            throw new IllegalStateException(bytes.length + " bytes became more than " + deflated.length);
        }
        deflater.end();
        return Arrays.copyOf(deflated, length);
    }

    /** Writes the jar; its entries have no time, which the build sets for all jars alike. */
    private static void write(Path jar, Map<String, byte[]> files) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                ZipEntry entry = new ZipEntry(file.getKey());
                entry.setTime(0);
                if (file.getKey().endsWith("/" + AgentLoader.CLASSES)) {
                    // Its parts are deflated.
                    CRC32 sum = new CRC32();
                    sum.update(file.getValue());
                    entry.setMethod(ZipEntry.STORED);
                    entry.setSize(file.getValue().length);
                    entry.setCrc(sum.getValue());
                }
                zip.putNextEntry(entry);
                zip.write(file.getValue());
                zip.closeEntry();
            }
        }
        Files.write(jar, bytes.toByteArray());
    }
}
