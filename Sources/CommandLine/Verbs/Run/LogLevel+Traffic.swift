// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKKeys

extension LogLevel {
    /// Creates the log level for a line of link traffic.
    package init(_ level: TrafficLog.Level) {
        switch level {
        case .info: self = .info
        case .debug: self = .debug
        case .traffic: self = .traffic
        }
    }
}
