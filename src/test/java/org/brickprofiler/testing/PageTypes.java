package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The types of a page's data, from the declarations that its script is checked with, in {@code build/pages}. Compares
 * the data of pages with them in both directions: each value has its declared type, no key is undeclared, and each
 * declared key occurs. Reads interfaces of one key per line and aliases; types may be unions, arrays, tuples and
 * records. Not thread-safe.
 */
public final class PageTypes {

    private static final Pattern INTERFACE =
            Pattern.compile("^interface (\\w+)(?: extends (\\w+))? \\{\\n(.*?)^}", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern KEY = Pattern.compile("^  (?:\"([^\"]+)\"|(\\w+))(\\??): (.+);$", Pattern.MULTILINE);
    private static final Pattern ALIAS = Pattern.compile("^type (\\w+) = (.+);$", Pattern.MULTILINE);
    private static final Pattern DATA =
            Pattern.compile("<script type=\"application/json\" id=\"([^\"]+)\">(.*?)</script>", Pattern.DOTALL);
    private static final String RECORD = "Record<string, ";

    /** The interface whose keys are the elements of a page. */
    private static final String HELD = "Held";

    private record Key(String type, boolean isOptional) {}

    private final Map<String, Map<String, Key>> interfaces = new HashMap<>();
    private final Map<String, String> aliases = new HashMap<>();
    private final Set<String> declared = new TreeSet<>();
    private final Set<String> seen = new HashSet<>();
    private final List<String> faults = new ArrayList<>();

    private PageTypes(String text) {
        Matcher alias = ALIAS.matcher(text);
        while (alias.find()) {
            aliases.put(alias.group(1), alias.group(2));
        }
        Matcher found = INTERFACE.matcher(text);
        while (found.find()) {
            Map<String, Key> keys = new LinkedHashMap<>();
            if (found.group(2) != null) {
                keys.putAll(interfaces.getOrDefault(found.group(2), Map.of()));
            }
            Matcher key = KEY.matcher(found.group(3));
            while (key.find()) {
                String name = key.group(1) == null ? key.group(2) : key.group(1);
                keys.put(name, new Key(key.group(4), !key.group(3).isEmpty()));
            }
            interfaces.put(found.group(1), keys);
        }
        declare(HELD);
    }

    /** Returns the types of the pages of a kind, from the files that declare them. */
    public static PageTypes of(String... files) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String file : files) {
            text.append(Files.readString(SourceTree.path("build", "pages", file + ".d.ts")));
        }
        return new PageTypes(text.toString());
    }

    private void declare(String type) {
        if (aliases.containsKey(type)) {
            names(aliases.get(type)).forEach(this::declare);
            return;
        }
        interfaces.getOrDefault(type, Map.of()).forEach((name, key) -> {
            if (declared.add(type + "." + name)) {
                names(key.type).forEach(this::declare);
            }
        });
    }

    private static List<String> names(String type) {
        return Pattern.compile("\\w+")
                .matcher(type)
                .results()
                .map(match -> match.group())
                .toList();
    }

    /** Returns the keys of an interface. */
    public Set<String> keys(String type) {
        return keysOf(type).keySet();
    }

    private Map<String, Key> keysOf(String type) {
        return Objects.requireNonNull(interfaces.get(type), type);
    }

    /** Compares the data of a page with the types. */
    public void check(String page) throws IOException {
        Matcher element = DATA.matcher(page);
        while (element.find()) {
            Key key = keysOf(HELD).get(element.group(1));
            if (key == null) {
                faults.add("the element " + element.group(1) + " is not declared");
            } else {
                seen.add(HELD + "." + element.group(1));
                check(new ObjectMapper().readTree(element.group(2)), key.type, element.group(1));
            }
        }
    }

    /** Asserts that the pages agree with the types and that each declared key has occurred. */
    public void assertAgree() {
        assertThat(new TreeSet<>(faults)).isEmpty();
        Set<String> unseen = new TreeSet<>(declared);
        unseen.removeAll(seen);
        assertThat(unseen).as("declared keys that no page has").isEmpty();
    }

    private void check(JsonNode value, String type, String at) {
        if (!is(value, type, at)) {
            faults.add(at + ": " + value.toString().lines().findFirst().orElse("") + " is no " + type);
        }
    }

    /** Returns whether a value has a type. Faults within an object or a list are recorded separately. */
    private boolean is(JsonNode value, String type, String at) {
        List<String> alternatives = split(type, " | ");
        if (alternatives.size() > 1) {
            return alternatives.stream().anyMatch(alternative -> is(value, alternative, at));
        }
        if (type.endsWith("[]")) {
            String element = type.substring(0, type.length() - 2);
            String plain = element.endsWith(")") ? element.substring(1, element.length() - 1) : element;
            value.forEach(each -> check(each, plain, at + "[]"));
            return value.isArray();
        }
        if (type.startsWith("[")) {
            return isTuple(value, split(type.substring(1, type.length() - 1), ", "), at);
        }
        if (type.startsWith(RECORD)) {
            String element = type.substring(RECORD.length(), type.length() - 1);
            value.forEach(each -> check(each, element, at + ".*"));
            return value.isObject();
        }
        return switch (type) {
            case "string" -> value.isTextual();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            case "null" -> value.isNull();
            default ->
                type.startsWith("\"")
                        ? value.asText().equals(type.substring(1, type.length() - 1))
                        : isNamed(value, type, at);
        };
    }

    private boolean isTuple(JsonNode value, List<String> places, String at) {
        if (!value.isArray() || value.size() != places.size()) {
            return false;
        }
        for (int i = 0; i < places.size(); i++) {
            check(value.get(i), places.get(i).replaceFirst("^\\w+: ", ""), at + "[" + i + "]");
        }
        return true;
    }

    private boolean isNamed(JsonNode value, String type, String at) {
        if (aliases.containsKey(type)) {
            return is(value, aliases.get(type), at);
        }
        Map<String, Key> keys = interfaces.get(type);
        if (keys == null || !value.isObject()) {
            return false;
        }
        keys.forEach((name, key) -> {
            if (value.has(name)) {
                seen.add(type + "." + name);
                check(value.get(name), key.type, at + "." + name);
            } else if (!key.isOptional) {
                faults.add(at + " lacks " + name);
            }
        });
        value.fieldNames().forEachRemaining(name -> {
            if (!keys.containsKey(name)) {
                faults.add(at + "." + name + " is not declared in " + type);
            }
        });
        return true;
    }

    /** Splits a type at separators outside of brackets. */
    private static List<String> split(String type, String separator) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i < type.length(); i++) {
            depth += "([<".indexOf(type.charAt(i)) >= 0 ? 1 : 0;
            depth -= ")]>".indexOf(type.charAt(i)) >= 0 ? 1 : 0;
            if (depth == 0 && type.startsWith(separator, i)) {
                parts.add(type.substring(from, i));
                from = i + separator.length();
            }
        }
        parts.add(type.substring(from));
        return parts;
    }
}
