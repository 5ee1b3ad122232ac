// SPDX-License-Identifier: Apache-2.0

/// Runs `body` and lifts its error into the error of the layer above.
package func lift<Value, Lower: Error, Upper: Error>(
    _ wrap: (Lower) -> Upper, _ body: () throws(Lower) -> Value
) throws(Upper) -> Value {
    do { return try body() } catch { throw wrap(error) }
}
