package org.brickprofiler.report;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A part of a profile's page that another artifact brings: the timeline's digest, the distance to a roof. A caller gets
 * it there and gives it to {@link HtmlReport#with(PagePart)}. A part is data that the page's own script draws; a page
 * shows nothing for a part that the script does not know. Immutable; any thread.
 */
public final class PagePart {

    private final UnaryOperator<HtmlReport> addition;

    private PagePart(UnaryOperator<HtmlReport> addition) {
        this.addition = addition;
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
        Objects.requireNonNull(json, "json");
        return new PagePart(page -> page.with(id, json));
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
        Map<String, Object> kept = Map.of(key, Collections.unmodifiableMap(new LinkedHashMap<>(values)));
        return new PagePart(page -> page.withFurther(kept));
    }

    /** Returns a page with this part, in place of an earlier one of the same name. */
    HtmlReport addTo(HtmlReport page) {
        return addition.apply(page);
    }
}
