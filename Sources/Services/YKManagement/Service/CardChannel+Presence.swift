// SPDX-License-Identifier: Apache-2.0

package import YKTransport
package import YKWire

extension CardChannel {
    /// Whether an application can be selected, which it is then. Throws what became of the link.
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
