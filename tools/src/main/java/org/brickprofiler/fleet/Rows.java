package org.brickprofiler.fleet;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a query, in values whose types are the same for all engines. Immutable.
 *
 * @param columns the names, in order
 * @param rows the rows, in order; each has a value for each column: a {@link Long}, {@link Double}, {@link String} or
 *     {@link Boolean}, or null
 */
public record Rows(List<String> columns, List<List<@Nullable Object>> rows) {

    /**
     * Returns the rows. Written explicitly for NullAway, which does not see nullable type arguments of a generated
     * accessor.
     *
     * @return the rows, each with a value for every column
     */
    @Override
    public List<List<@Nullable Object>> rows() {
        return rows;
    }

    /**
     * Converts a value of a database to one of the types of {@link #rows}: whole numbers of any type become
     * {@code Long} if they fit, other numbers {@code Double}, and any other value except a truth value becomes its
     * text.
     *
     * @param value a driver's value
     * @return the value; null for null
     */
    public static @Nullable Object value(@Nullable Object value) {
        if (value == null || value instanceof Long || value instanceof Double || value instanceof Boolean) {
            return value;
        }
        if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        if (value instanceof BigInteger whole) {
            return whole.bitLength() < Long.SIZE ? (Object) whole.longValue() : (Object) whole.doubleValue();
        }
        if (value instanceof BigDecimal decimal) {
            boolean isWhole =
                    decimal.signum() == 0 || decimal.stripTrailingZeros().scale() <= 0;
            return isWhole ? value(decimal.toBigInteger()) : (Object) decimal.doubleValue();
        }
        return value instanceof Number number ? (Object) number.doubleValue() : value.toString();
    }
}
