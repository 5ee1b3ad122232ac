// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A card that other programs use as well.
enum BusyCard {
    /// How long to wait for other programs.
    static let patience = Duration.seconds(5)

    /// Repeats work with a card that another program holds, or has reset or powered off during the operation.
    static func retrying<Value>(_ work: () async throws -> Value) async throws -> Value {
        let end = ContinuousClock.now + patience
        while true {
            do { return try await work() } catch {
                guard LinkError(causing: error)?.isTransient == true, .now < end else { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
