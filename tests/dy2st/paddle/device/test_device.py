"""Devices: the CPU is there, every other one is refused in words that say what is lacking."""

import pytest

import dy2st
from dy2st import device
from dy2st_runtime import devices


@pytest.mark.parametrize("name", ["cpu", "CPU", "cpu:0", None, dy2st.CPUPlace()])
def test_the_cpu_can_be_chosen(name):
    assert dy2st.set_device(name) == dy2st.CPUPlace() == device.set_device("cpu")
    assert dy2st.get_device() == device.get_device() == "cpu"
    with device.device_guard("cpu"):
        pass


@pytest.fixture
def no_jax(monkeypatch):
    monkeypatch.setattr(devices.util, "find_spec", lambda name: None)


@pytest.mark.parametrize("name", ["gpu:0", "gpu:1", "tpu:0"])
def test_without_jax_the_words_say_what_to_install(no_jax, name):
    said = f"'{name}' is not here: jax, which .*: pip install 'jax"
    for use in (dy2st.set_device, dy2st.ones([2]).to, dy2st.nn.Linear(2, 2).to):
        with pytest.raises(dy2st.errors.ArgumentError, match=said):
            use(name)
    assert dy2st.get_device() == "cpu"


@pytest.mark.parametrize("name", ["xpu:0", "npu:0"])
def test_devices_that_jax_does_not_know_are_refused(name):
    with pytest.raises(dy2st.errors.ArgumentError, match=f"'{name}' is not here: dy2st computes"):
        dy2st.set_device(name)


@pytest.mark.parametrize("place", ["CUDAPlace", "XPUPlace", "IPUPlace"])
def test_other_places_can_be_asked_for_but_not_made(no_jax, place):
    kind = getattr(dy2st, place)
    assert not isinstance(dy2st.CPUPlace(), kind)
    with pytest.raises(dy2st.errors.ArgumentError, match="is not here"):
        kind(0)
    with pytest.raises(dy2st.errors.ArgumentError, match="is not here"):
        dy2st.CUDAPinnedPlace()


@pytest.mark.parametrize("name", ["gpuu", 0, "gpu:x"])
def test_a_name_that_is_no_device_is_refused(name):
    with pytest.raises(dy2st.errors.ArgumentError, match="a device is 'cpu', 'gpu', "):
        dy2st.set_device(name)


def test_a_place_says_what_it_is():
    place = dy2st.CPUPlace()
    assert place.is_cpu_place() and not place.is_gpu_place() and not place.is_custom_place()
    assert repr(place) == "Place(cpu)" and hash(place) == hash(dy2st.CPUPlace())


def test_nothing_else_is_built_in(no_jax):
    asked = [name for name in device.__all__ if name.startswith("is_compiled_with_")]
    asked.remove("is_compiled_with_custom_device")
    assert len(asked) == 6 and not any(getattr(device, name)() for name in asked)
    assert not dy2st.is_compiled_with_cuda() and not device.is_compiled_with_custom_device("npu")
    assert device.device_count() == device.cuda.device_count() == 0 and not device.is_available()
    assert device.get_all_device_type() == device.get_available_device() == ["cpu"]
    assert device.get_all_custom_device_type() == [] and device.get_cudnn_version() is None


def test_scripts_may_wait_for_gpus_and_measure_their_memory(no_jax):
    device.synchronize(), device.cuda.synchronize(), device.cuda.empty_cache()
    assert device.cuda.max_memory_allocated() == device.max_memory_allocated() == 0
    with pytest.raises(dy2st.errors.ArgumentError):
        device.cuda.get_device_name()


def test_events_measure_time_and_streams_are_done():
    begin, end = device.Event(enable_timing=True), device.Event(enable_timing=True)
    begin.record()
    with device.stream_guard(device.Stream()):
        device.current_stream().record_event(end)
    device.current_stream().wait_event(end), device.current_stream().synchronize()
    assert begin.elapsed_time(end) >= 0 and end.query() and device.Stream().query()


def test_random_numbers_begin_anew():
    device.manual_seed(3)
    first = dy2st.rand([2]).tolist()
    dy2st.seed(3)
    assert dy2st.rand([2]).tolist() == first


def test_a_device_is_named_as_torch_names_it():
    device = dy2st.device("cpu")
    assert (device, device.type, device.index) == ("cpu", "cpu", None)
    assert dy2st.ones([2]).to(device).device == device
    layer = dy2st.nn.Linear(2, 3)
    assert layer.to(device) is layer
