// SPDX-License-Identifier: Apache-2.0

package import Testing

/// Records an issue if a value is not the expected one. A plain comparison is written so, since each `#expect(a == b)` is a macro
/// that the compiler expands and checks by itself.
package func expect<Value: Equatable>(
    _ found: Value, is expected: Value, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
    guard found != expected else { return }
    let reason = comment.map { "\($0.rawValue): " } ?? ""
    Issue.record(
        "\(reason)\(String(reflecting: found)) is not \(String(reflecting: expected))", sourceLocation: sourceLocation)
}
