// SPDX-License-Identifier: Apache-2.0

package import YKTransport
package import YKWire

extension CardChannel {
    /// Returns whether an application exists, and selects it. Throws if the link fails.
    package func has(_ application: AID) throws(CardError) -> Bool {
        do throws(CardError) {
            _ = try select(application)
            return true
        } catch {
            switch error {
            case .appletMissing, .status: return false
            default: throw error
            }
        }
    }
}
