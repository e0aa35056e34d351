package org.brickprofiler.report;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A part of a profile's page that another artifact brings: the timeline's digest, the distance to a roof. A caller gets
 * it there and gives it to {@link HtmlReport#with(PagePart)}. A part is data that the page's own script draws; a page
 * shows nothing for a part that the script does not know. Immutable; any thread.
 */
public final class PagePart {

    private final String name;
    private final Object content;

    private PagePart(String name, Object content) {
        this.name = name;
        this.content = content;
    }

    /**
     * Returns a part that is data of the page alone.
     *
     * @param id the identifier by which the page's script finds the data: lower-case letters and hyphens
     * @param json the data, one JSON value
     * @return the part
     * @throws IllegalArgumentException when the identifier has other characters
     */
    public static PagePart element(String id, String json) {
        if (!Objects.requireNonNull(id, "id").matches("[a-z-]+")) {
            throw new IllegalArgumentException("the id of a part is lower-case letters and hyphens: " + id);
        }
        return new PagePart(id, Objects.requireNonNull(json, "json"));
    }

    /**
     * Returns a part that is an object of the JSON that can be saved from the page.
     *
     * @param key the key of the object, none of the report's own
     * @param values keys and values as in {@link JsonReport#toJson(org.brickprofiler.ProfileSnapshot, Map)}
     * @return the part
     */
    public static PagePart object(String key, Map<String, ?> values) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(values, "values");
        return new PagePart(key, Collections.unmodifiableMap(new LinkedHashMap<String, Object>(values)));
    }

    String name() {
        return name;
    }

    /** Returns the text of an element, or the values of an object. */
    Object content() {
        return content;
    }
}
