import { type PurchaseStore, Receipt, utf8Bytes } from '@guildhall/contract'
import { refuse } from '../../kernel/failure.ts'
import { validateJson } from '../../kernel/json/validate.ts'

/** A receipt as it was handed in, and the store that it is said to come from. */
export type PresentedReceipt = { store: PurchaseStore; receipt: string }

/**
 * Says what a receipt is for. One that asks a store about its receipts would stand here beside the
 * one below.
 *
 * @throws Failure `invalid_request` for a receipt that is not valid
 */
export type ReceiptValidator = (presented: PresentedReceipt) => Promise<Receipt>

/**
 * Reads receipts that the game makes itself. It takes the word of the operator for all stores, and
 * is strict about the form: what is unknown, repeated or out of bounds is no receipt.
 *
 * @param receiptBytesMax `purchases.max_receipt_bytes`
 */
export function createCustomValidator(receiptBytesMax: number): ReceiptValidator {
  return async ({ receipt }) => {
    if (utf8Bytes(receipt) > receiptBytesMax) {
      throw refuse.invalid(`receipt must be at most ${receiptBytesMax} bytes`)
    }
    return validateJson(Receipt(), receipt, 'receipt')
  }
}
