// SPDX-License-Identifier: Apache-2.0

package import YKTransport

/// A way to a key's management: the same few operations over a smart card, FIDO HID and OTP HID.
package protocol ManagementCarrier: AnyObject {
    /// The firmware version, as far as the carrier tells it before device information is read.
    var version: Version { get }
    /// How many exchanges were made.
    var exchanges: Int { get }

    /// One page of device information as it came: a length byte, then data objects.
    func readPage(_ page: UInt8) throws(ManagementError) -> [UInt8]
    /// Writes a configuration: a length byte, then data objects.
    func write(_ configuration: [UInt8]) throws(ManagementError)
    /// Sets the USB mode of a key from before firmware 5: mode, seconds for challenge-response, seconds until ejection
    /// (two bytes, least significant first).
    func setMode(_ mode: [UInt8]) throws(ManagementError)
    /// Resets the whole key.
    func reset() throws(ManagementError)
    /// What is known of a key that has no device information.
    func olderKey(_ product: USBProduct?) throws(ManagementError) -> DeviceInfo
    /// Lets other programs use the key until the next operation.
    func rest()
    /// Ends the use of the key.
    func close()
}
