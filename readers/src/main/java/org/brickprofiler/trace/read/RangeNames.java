package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Numbers the names of ranges that an application marks on its threads. Names beyond a bound share one number. One
 * thread.
 */
final class RangeNames {

    private static final int MOST = 1 << 16;

    /** The suffix that PyTorch appends to the names of operators; it makes nearly every range's name unique. */
    private static final Pattern OF_ONE_CALL = Pattern.compile(", (op_id|seq|sizes|input_op_ids) = .*", Pattern.DOTALL);

    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>();

    /** The numbers of whole texts, to strip each suffix once. */
    private final Map<String, Integer> texts = new HashMap<>();

    /** Returns the number of the name in a text. */
    int number(String text) {
        Integer known = texts.get(text);
        if (known == null) {
            String name = TraceNames.bounded(OF_ONE_CALL.matcher(text).replaceFirst(""));
            boolean hasRoom = names.size() < MOST || numbers.containsKey(name);
            known = numbers.computeIfAbsent(hasRoom ? name : TraceNames.OTHERS, added -> {
                names.add(added);
                return names.size() - 1;
            });
            if (texts.size() == MOST) {
                texts.clear();
            }
            texts.put(text, known);
        }
        return known;
    }

    /** Returns the name with a number. */
    String name(int number) {
        return names.get(number);
    }

    /** Returns the name of the range around a launch, or its substitute, for a result of {@link LaunchRanges#of}. */
    String nameAround(int range) {
        return range == LaunchRanges.NO_LAUNCH
                ? TraceProfile.Range.NO_LAUNCH
                : range == LaunchRanges.NO_RANGE ? TraceProfile.Range.NO_RANGE : names.get(range);
    }
}
