// SPDX-License-Identifier: Apache-2.0

/// The release of this program.
enum Program {
    static let version = "0.1.0"
}
