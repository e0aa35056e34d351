package org.brickprofiler.agent;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Maps the name of a type of numbers, such as {@code Q8_0} of GGUF, to the size of its numbers in memory, scales
 * included. Sizes are bytes per {@value #BLOCK} numbers, so that the sizes of all types, and of bits with four
 * decimals, are whole numbers. An instance looks up the type that a value of the engine names: first in the table of a
 * rule, then in {@link #SIZES}. Any thread; allocates nothing for constants of enums and for strings.
 */
final class WeightTypes {

    /** The number of numbers in the largest block of the types. */
    private static final int LARGEST_BLOCK = 256;

    /** The number of numbers to which a size refers. */
    static final int BLOCK = 625 * LARGEST_BLOCK;

    /** The size of floats. */
    static final long F32 = 4L * BLOCK;

    /**
     * Bytes of a block of 256 numbers by name: types of GGUF (ggml-common.h of llama.cpp), safetensors and OCP
     * microscaling.
     */
    private static final Map<String, Long> BLOCKS = Map.ofEntries(
            Map.entry("F64", 2_048L),
            Map.entry("F32", 1_024L),
            Map.entry("F16", 512L),
            Map.entry("BF16", 512L),
            Map.entry("F8_E4M3", 256L),
            Map.entry("F8_E5M2", 256L),
            Map.entry("I8", 256L),
            Map.entry("U8", 256L),
            Map.entry("I16", 512L),
            Map.entry("Q4_0", 144L),
            Map.entry("Q4_1", 160L),
            Map.entry("Q5_0", 176L),
            Map.entry("Q5_1", 192L),
            Map.entry("Q8_0", 272L),
            Map.entry("Q8_1", 288L),
            Map.entry("Q2_K", 84L),
            Map.entry("Q3_K", 110L),
            Map.entry("Q4_K", 144L),
            Map.entry("Q5_K", 176L),
            Map.entry("Q6_K", 210L),
            Map.entry("Q8_K", 292L),
            Map.entry("IQ1_S", 50L),
            Map.entry("IQ1_M", 56L),
            Map.entry("IQ2_XXS", 66L),
            Map.entry("IQ2_XS", 74L),
            Map.entry("IQ2_S", 82L),
            Map.entry("IQ3_XXS", 98L),
            Map.entry("IQ3_S", 110L),
            Map.entry("IQ4_NL", 144L),
            Map.entry("IQ4_XS", 136L),
            Map.entry("TQ1_0", 54L),
            Map.entry("TQ2_0", 66L),
            Map.entry("MXFP4", 136L));

    /** Sizes by name. */
    private static final Map<String, Long> SIZES = new HashMap<>(BLOCKS);

    static {
        SIZES.replaceAll((name, bytes) -> bytes * (BLOCK / LARGEST_BLOCK));
    }

    private static final String LIKE_A_TYPE = "(?i)(?:[FIUQ]|BF|IQ|TQ|MXFP|NVFP)\\d\\w*";

    private static final double BYTE_BITS = 8;
    private static final double MOST_BITS = 64;

    private static final String SEPARATOR = "\n";

    private final String place;
    private final Map<String, Long> sizes;
    private final AgentLosses losses;

    /** The latest enum constant and its size; both are replaced together. */
    private volatile Found latest = new Found(null, WovenWork.UNREAD);

    private record Found(@Nullable Enum<?> type, long size) {}

    private WeightTypes(String place, Map<String, Long> sizes, AgentLosses losses) {
        this.place = place;
        this.sizes = sizes;
        this.losses = losses;
    }

    /**
     * Reads the table of a rule.
     *
     * @param place the rule, for messages
     * @param text the table, in the format of {@link #text}
     * @param losses counts values that name no type
     */
    static WeightTypes parse(String place, String text, AgentLosses losses) {
        Map<String, Long> sizes = new HashMap<>(SIZES);
        String[] words = text.isEmpty() ? new String[0] : text.split(SEPARATOR, -1);
        for (int i = 0; i + 1 < words.length; i += 2) {
            sizes.put(words[i], Long.parseLong(words[i + 1]));
        }
        return new WeightTypes(place, sizes, losses);
    }

    /** Returns a table as a constant of a class file. */
    static String text(Map<String, Long> sizes) {
        return new TreeMap<>(sizes)
                .entrySet().stream()
                        .map(each -> each.getKey() + SEPARATOR + each.getValue())
                        .collect(Collectors.joining(SEPARATOR));
    }

    /**
     * Returns the size that a rule states.
     *
     * @param text the name of a type, or a number of bits
     * @return bytes of {@link #BLOCK} numbers; empty if the text is neither and may be a path
     * @throws IllegalArgumentException when the text looks like the name of a type, or is an impossible number of bits
     */
    static OptionalLong sizeOf(String text) {
        Long known = SIZES.get(text.toUpperCase(Locale.ROOT));
        if (known != null) {
            return OptionalLong.of(known);
        }
        if (isBits(text)) {
            double bits = Double.parseDouble(text);
            if (bits == 0 || bits > MOST_BITS) {
                throw new IllegalArgumentException("a number does not take " + text + " bits");
            }
            return OptionalLong.of(Math.round(bits * BLOCK / BYTE_BITS));
        }
        if (Names.isName(text) && text.matches(LIKE_A_TYPE)) {
            throw new IllegalArgumentException("there is no type '" + text + "'"
                    + ClosestNames.hint(text, SIZES.keySet().stream().sorted()) + "; or write the bits of a number");
        }
        return OptionalLong.empty();
    }

    private static boolean isBits(String text) {
        int dot = text.indexOf('.');
        return dot < 0
                ? Names.isNumber(text, 3)
                : Names.isNumber(text.substring(0, dot), 3) && Names.isNumber(text.substring(dot + 1), 4);
    }

    /**
     * Returns the bytes of {@link #BLOCK} numbers of the type that a value names; {@link WovenWork#UNREAD} if it names
     * none. Throws nothing.
     */
    long of(@Nullable Object value) {
        Found known = latest;
        if (value != null && known.type() == value) {
            return known.size();
        }
        String name = Outcomes.nameOf(value);
        Long size = sizes.get(name);
        if (size == null) {
            losses.unknownType(place, name);
            return WovenWork.UNREAD;
        }
        if (value instanceof Enum<?> constant) {
            latest = new Found(constant, size);
        }
        return size;
    }
}
