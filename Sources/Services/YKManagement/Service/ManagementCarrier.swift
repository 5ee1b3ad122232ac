// SPDX-License-Identifier: Apache-2.0

package import YKTransport

/// A transport for management: the same operations over a smart card, FIDO HID and OTP HID.
package protocol ManagementCarrier: AnyObject {
    /// The firmware version, as far as known before device information is read.
    var version: FirmwareVersion { get }
    /// The number of exchanges.
    var exchanges: Int { get }

    /// Reads one raw page of device information: a length byte, then data objects.
    func readPage(_ page: UInt8) throws(ManagementError) -> [UInt8]
    /// Writes a configuration: a length byte, then data objects.
    func write(_ configuration: [UInt8]) throws(ManagementError)
    /// Sets the USB mode of a key before firmware 5: mode, seconds for challenge-response, seconds until ejection (two
    /// bytes, least significant first).
    func setMode(_ mode: [UInt8]) throws(ManagementError)
    /// Resets the whole key.
    func reset() throws(ManagementError)
    /// The known properties of a key that has no device information; `skipping` is called with the error of a question
    /// without which the others are still asked.
    func olderKey(
        _ product: USBProduct?, _ skipping: (ManagementError) throws(ManagementError) -> Void
    ) throws(ManagementError) -> DeviceInfo
    /// Lets other programs use the key until the next operation.
    func rest()
    /// Closes the connection to the key.
    func close()
}
