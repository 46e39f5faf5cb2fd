import gzip
import io
import pickle
import struct
import tarfile

import numpy as np
import pytest

import dy2st
from dy2st import vision
from dy2st.errors import ArgumentError, FormatError
from dy2st.paddle.vision import datasets

PICTURES = np.random.default_rng(0).integers(0, 256, (5, 28, 28)).astype("uint8")
LABELS = np.array([3, 1, 4, 1, 5], "uint8")


def idx(path, array):
    head = struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes()))
    return str(path)


def old_pickle(data, labels):
    """What Python 2 wrote for {"data": data, "labels": labels}: its texts are bytes here."""
    head = (
        b"\x80\x02}(U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b"
    )
    head += b"\x87R(K\x01K" + bytes([len(data)]) + b"M" + struct.pack("<H", data.shape[1]) + b"\x86"
    head += b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNN" + b"J\xff\xff\xff\xff" * 2
    head += b"K\x00tb\x89T" + struct.pack("<i", data.size) + data.tobytes() + b"tbU\x06labels]("
    return head + b"".join(b"K" + bytes([label]) for label in labels) + b"eu."


def cifar(path, **batches):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in batches.items():
            data = content if isinstance(content, bytes) else pickle.dumps(content, protocol=4)
            entry = tarfile.TarInfo(f"cifar/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return str(path)


@pytest.fixture(autouse=True)
def arrays():
    vision.set_image_backend("cv2")
    yield
    vision.set_image_backend("pil")


@pytest.mark.parametrize("kind", [datasets.MNIST, datasets.FashionMNIST])
def test_digits_are_read_from_their_files(tmp_path, kind):
    files = idx(tmp_path / "images", PICTURES), idx(tmp_path / "labels", LABELS)
    digits = kind(*files)
    assert len(digits) == 5
    picture, label = digits[2]
    assert picture.dtype == "float32" and label.dtype == "int64" and label.tolist() == [4]
    np.testing.assert_array_equal(picture, PICTURES[2])
    changed = kind(*files, transform=vision.transforms.ToTensor())
    x, y = next(iter(dy2st.io.DataLoader(changed, batch_size=5)))
    assert x.shape == [5, 1, 28, 28] and y.numpy().ravel().tolist() == LABELS.tolist()


def test_photographs_are_read_from_their_archive(tmp_path):
    data = np.random.default_rng(1).integers(0, 256, (6, 3072)).astype("uint8")
    file = cifar(
        tmp_path / "ten.tar.gz",
        data_batch_2={b"data": data[2:4], b"labels": [2, 3]},
        data_batch_1=old_pickle(data[:2], [0, 1]),
        test_batch={b"data": data[4:], b"labels": [4, 5]},
    )
    photographs = datasets.Cifar10(file)
    assert [int(label) for _, label in photographs] == [0, 1, 2, 3]
    np.testing.assert_array_equal(photographs[3][0], data[3].reshape(3, 32, 32).transpose(1, 2, 0))
    assert photographs[3][1].dtype == "int64"
    assert [int(label) for _, label in datasets.Cifar10(file, "test")] == [4, 5]
    file = cifar(
        tmp_path / "hundred.tar.gz",
        train={b"data": data[:3], b"fine_labels": [7, 8, 9], b"coarse_labels": [0, 0, 0]},
        test={b"data": data[3:], b"fine_labels": [1, 2, 3], b"coarse_labels": [0, 0, 0]},
    )
    assert [int(label) for _, label in datasets.Cifar100(file)] == [7, 8, 9]


def test_reading_photographs_runs_no_code(tmp_path):
    class Bad:
        def __reduce__(self):
            return print, ("run",)

    with pytest.raises(FormatError, match="print"):
        datasets.Cifar10(cifar(tmp_path / "bad.tar.gz", data_batch_1={b"data": Bad()}))
    with pytest.raises(FormatError, match="test_batch"):
        datasets.Cifar10(cifar(tmp_path / "none.tar.gz"), "test")


def test_damaged_files_are_refused(tmp_path):
    images, labels = idx(tmp_path / "images", PICTURES), idx(tmp_path / "labels", LABELS[:3])
    with pytest.raises(FormatError, match="5 pictures have 3 labels"):
        datasets.MNIST(images, labels)
    with pytest.raises(FormatError, match="IDX"):
        datasets.MNIST(labels, labels)
    cut = tmp_path / "cut"
    cut.write_bytes(gzip.compress(gzip.decompress((tmp_path / "images").read_bytes())[:-1]))
    with pytest.raises(FormatError, match="cut"):
        datasets.MNIST(str(cut), labels)


@pytest.mark.parametrize("kind", [datasets.MNIST, datasets.Cifar10])
def test_nothing_is_fetched_from_the_network(kind):
    with pytest.raises(ArgumentError, match="network"):
        kind(mode="test")
    with pytest.raises(ArgumentError, match="'train' or 'test'"):
        kind(mode="valid")


@pytest.fixture
def tree(tmp_path):
    for name in ("dog/3.PNG", "cat/1.png", "cat/more/2.png", "cat/notes.txt", "top.png"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def read(path):
    with open(path) as file:
        return file.read()


def test_folders_are_classes(tree):
    pictures = datasets.DatasetFolder(str(tree), loader=read)
    assert pictures.classes == ["cat", "dog"] and pictures.class_to_idx == {"cat": 0, "dog": 1}
    assert list(pictures[i] for i in range(len(pictures))) == [
        ("cat/1.png", 0),
        ("cat/more/2.png", 0),
        ("dog/3.PNG", 1),
    ]
    assert pictures.targets == [0, 0, 1]
    texts = datasets.DatasetFolder(str(tree), read, (".TXT",), str.upper)
    assert [texts[i] for i in range(len(texts))] == [("CAT/NOTES.TXT", 0)]


def test_folders_without_classes(tree):
    pictures = datasets.ImageFolder(str(tree), loader=read)
    assert [pictures[i] for i in range(len(pictures))] == [
        ["top.png"],
        ["cat/1.png"],
        ["cat/more/2.png"],
        ["dog/3.PNG"],
    ]
    chosen = datasets.ImageFolder(str(tree), read, is_valid_file=lambda path: "notes" in path)
    assert chosen[0] == ["cat/notes.txt"] and len(chosen) == 1


def test_folders_without_pictures_are_refused(tree):
    for kind in (datasets.DatasetFolder, datasets.ImageFolder):
        with pytest.raises(ArgumentError, match=r"\.gif"):
            kind(str(tree), read, [".gif"])
        with pytest.raises(ArgumentError, match="give one"):
            kind(str(tree), read, [".gif"], is_valid_file=bool)


def test_the_back_end_is_chosen():
    assert vision.get_image_backend() == "cv2"
    with pytest.raises(ArgumentError, match="'pil', 'cv2', 'tensor'"):
        vision.set_image_backend("gif")


def test_pictures_are_loaded_by_pil(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    colours = np.random.default_rng(0).integers(0, 256, (4, 6, 3)).astype("uint8")
    path = str(tmp_path / "a" / "1.png")
    (tmp_path / "a").mkdir()
    Image.fromarray(colours).save(path)
    with vision.image_load(path, backend="pil") as image:
        assert image.size == (6, 4)
    loaded = vision.image_load(path, backend="tensor")
    np.testing.assert_array_equal(loaded.numpy(), colours.transpose(2, 0, 1))
    vision.set_image_backend("pil")
    np.testing.assert_array_equal(np.asarray(datasets.DatasetFolder(str(tmp_path))[0][0]), colours)
    digits = datasets.MNIST(idx(tmp_path / "i", PICTURES), idx(tmp_path / "l", LABELS))
    np.testing.assert_array_equal(np.asarray(digits[1][0]), PICTURES[1])


def test_pictures_are_loaded_by_opencv(tmp_path):
    cv2 = pytest.importorskip("cv2")
    colours = np.random.default_rng(0).integers(0, 256, (4, 6, 3)).astype("uint8")
    (tmp_path / "a").mkdir()
    cv2.imwrite(str(tmp_path / "a" / "1.png"), colours[:, :, ::-1])
    np.testing.assert_array_equal(datasets.DatasetFolder(str(tmp_path))[0][0], colours)
    with pytest.raises(ArgumentError, match="no picture"):
        vision.image_load(str(tmp_path / "a"))
